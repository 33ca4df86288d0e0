package crashtest

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

// hash collects parts of known length, so that parts cannot run into each other.
type hash struct{ parts []byte }

func (h *hash) number(n uint64) { h.parts = binary.BigEndian.AppendUint64(h.parts, n) }

func (h *hash) index(i int) { h.parts = append(strconv.AppendInt(h.parts, int64(i), 10), ':') }

func (h *hash) text(s string) {
	h.number(uint64(len(s)))
	h.parts = append(h.parts, s...)
}

func (h *hash) cell(column int, c cell) {
	h.index(column)
	if c.null {
		h.text("null")
		return
	}
	h.text("value")
	h.text(c.text)
}

func (h *hash) sum() uint64 {
	digest := sha256.Sum256(h.parts)
	return binary.BigEndian.Uint64(digest[:])
}
