package webfuzz

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"sync"
)

// bombSide is the side of a picture of as many pixels as the projects make small.
const bombSide = 5016

// bomb is a progressive JPEG of four colours: 200 KB, of which a decoder makes 16 bytes for each pixel before
// it makes the picture.
func bomb(of uint16) []byte {
	var b bytes.Buffer
	segment := func(kind byte, body ...byte) {
		b.Write([]byte{0xff, kind})
		b.Write(binary.BigEndian.AppendUint16(nil, uint16(len(body)+2))) //nolint:gosec // short
		b.Write(body)
	}
	side := binary.BigEndian.AppendUint16(nil, of)
	b.Write([]byte{0xff, 0xd8})
	segment(0xee, append([]byte("Adobe"), 0, 100, 0, 0, 0, 0, 0)...)
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	segment(0xc2, append(append(append([]byte{8}, side...), side...), 4, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0)...)
	segment(0xc4, append(append([]byte{0, 1}, make([]byte, 15)...), 0)...) // one code, of one bit
	segment(0xda, 4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 0, 0)
	n := (int(of) + 7) / 8
	b.Write(make([]byte, n*n*4/8+1))
	b.Write([]byte{0xff, 0xd9})
	return b.Bytes()
}

// explode has a picture made small that takes much memory, two at once; once in a run.
func (t *tenant) explode(ctx context.Context) {
	id, p := t.some()
	if p == nil || p.archived {
		return
	}
	t.exploded.Do(func() {
		text := bomb(bombSide)
		q := request{method: http.MethodPut, path: fmt.Sprintf("/api/projects/%d/screens/%s-bomb.jpg", id, t.mark), body: text}
		a := t.send(ctx, q)
		if !t.c.must(q, a, brokenRefused, http.StatusCreated, http.StatusOK) {
			return
		}
		row := a.row()
		p.screens[fmt.Sprint(row.ID)] = &screen{filename: row.Filename, size: row.Size, content: text}
		var all sync.WaitGroup
		for range 2 { // as many as are made at once
			all.Go(func() { t.c.send(ctx, "", request{method: http.MethodGet, path: row.Thumb}) })
		}
		all.Wait()
	})
}
