package repo

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx/reflectx"
)

// A fingerprint's first byte says its form, the rest is the hash: so a later form can
// tell the rows of this one. Form 1 had no such byte: see firstForm.
const form = 2

// fingerprint hashes what the row to be created holds: column = value, sorted by the column, so that neither
// the order of Go fields nor a field that is new and zero makes another payload. The id is not part of it,
// for a retry may have made another one. NULL and Go's zero values are left out, for a struct without the
// field means the same; a pointer to 0 and a valid sql.Null of 0 are values. A value is written as a column
// takes it, so that its Go type may change. Name key, stem and copy number follow from the name.
func (r *tables) fingerprint(w newRow) [sha256.Size]byte {
	type pair struct{ column, value string }
	var pairs []pair
	derived := r.nameColumns()
	for i, column := range r.insertColumns() {
		if column == r.res.ID || isNull(w.args[i]) || slices.Contains(derived, column) && column != r.res.Label.Column || r.isZero(w, column) {
			continue
		}
		pairs = append(pairs, pair{column, string(plainText(w.args[i]))})
	}
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.column, b.column) })
	h := sha256.New()
	for _, p := range pairs {
		writeSized(h, []byte(p.column))
		writeSized(h, []byte(p.value))
	}
	sum := [sha256.Size]byte(h.Sum(nil))
	copy(sum[1:], sum[:])
	sum[0] = form
	return sum
}

// isZero says whether the field of a column has Go's zero value.
func (r *tables) isZero(w newRow, column string) bool {
	i := slices.IndexFunc(r.fields.all, func(f field) bool { return f.column == column })
	v := reflectx.FieldByIndexesReadOnly(w.row, r.fields.all[i].index)
	if at, isTime := v.Interface().(time.Time); isTime {
		return at.IsZero()
	}
	return v.IsZero()
}

// firstForm is the fingerprint of the versions before form 2: the arguments of the
// INSERT in their order, each with its Go type. Records of it replay while the struct
// is as it was.
func firstForm(args []any) [sha256.Size]byte {
	h := sha256.New()
	for _, arg := range args {
		switch raw := arg.(type) {
		case []byte:
			writeSized(h, raw)
		case json.RawMessage:
			writeSized(h, raw)
		default:
			writeSized(h, fmt.Appendf(nil, "%T %v", arg, arg))
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// writeSized writes the length too, so that no two lists share their bytes.
func writeSized(h hash.Hash, text []byte) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(text)))
	h.Write(n[:])
	h.Write(text)
}
