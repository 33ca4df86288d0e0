package adopt

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/names"
)

// maxNames is how many names one row tries; each is the highest copy number in use plus one.
const maxNames = 100

// writeOne writes the key of one row of the active table, and finds out who has it where it is refused.
func (f *Filler) writeOne(ctx context.Context, db onerow.DB, s *side, w *row, p *Page, copies bool) error {
	for try := 0; ; try++ {
		n, err := f.write(ctx, db, s, []*row{w})
		if mysqlerr.Classify(err) != mysqlerr.Duplicate {
			p.Written += int(n)
			if n == 0 {
				p.Moved++
			}
			return err
		}
		holder, herr := f.holder(ctx, db, s, w, w.want.key)
		switch {
		case herr != nil:
			return herr
		case holder == nil && try < 3:
			continue // it is gone
		case holder == nil:
			p.Left = append(p.Left, f.left(s, w, nil, err)) // another unique index refuses it
			return nil
		}
		if (holder.behind() || holder.wrong != nil) && s.keyMayBeNull && try < 3 {
			if err := f.release(ctx, db, s, holder); err != nil {
				return err
			}
			p.Moved++ // it is without a key until the next pass
			continue
		}
		if copies {
			return f.rename(ctx, db, s, w, holder, p)
		}
		p.Left = append(p.Left, f.left(s, w, holder.id, fmt.Errorf("%w by %s", ErrNameTaken, f.Show(holder.id))))
		return nil
	}
}

// ownerIs is the condition on the owner's columns.
func (f *Filler) ownerIs(w *row) string {
	var parts []string
	for i, name := range f.res.Owners() {
		if w.owner[i] == nil {
			return "FALSE" // it is nobody's, so no name is taken
		}
		parts = append(parts, ident.Quote(name)+" = "+keytype.Literal(w.owner[i]))
	}
	return strings.Join(parts, " AND ")
}

// holder reads who has the key, by the unique index, or nil.
func (f *Filler) holder(ctx context.Context, db onerow.DB, s *side, w *row, key []byte) (found *row, err error) {
	query := fmt.Sprintf("SELECT %s, CAST(%s AS BINARY), %s, stem_key, copy_no FROM %s WHERE %s AND %[3]s = %[6]s",
		ident.Quote(f.res.ID), ident.Quote(f.res.Label.Column), ident.Quote(f.res.Label.Key), ident.Quote(s.name), f.ownerIs(w), keytype.Literal(key))
	err = onerow.Query(ctx, db, query, nil, func(r *sql.Rows) error {
		h := &row{owner: w.owner}
		if err := r.Scan(f.id.Scan(func(v any) error { h.id = v; return nil }), &h.label, &h.key, &h.stem, &h.copyNo); err != nil {
			return err
		}
		h.want, h.wrong = f.parse(h.label)
		found = h
		return nil
	})
	return found, err
}

// release takes a key from a row that has another name by now: its writer did not know the key. It is written
// by the primary key.
func (f *Filler) release(ctx context.Context, db onerow.DB, s *side, h *row) error {
	query := fmt.Sprintf("UPDATE %s FORCE INDEX (PRIMARY) SET %s = NULL%s WHERE %s = %s AND %[2]s = %[6]s AND CAST(%[7]s AS BINARY) = %[8]s",
		ident.Quote(s.name), ident.Quote(f.res.Label.Key), s.keepTimes, ident.Quote(f.res.ID), keytype.Literal(h.id), keytype.Literal(h.key), ident.Quote(f.res.Label.Column), keytype.Literal(h.label))
	_, err := onerow.Affected(ctx, db, query)
	return err
}

// rename gives the row the next free copy of its name, as repo's Activate does: the highest number in use
// plus one, which the unique index decides about. It does not move updated_at.
func (f *Filler) rename(ctx context.Context, db onerow.DB, s *side, w, holder *row, p *Page) error {
	name, err := f.res.Label.Kind.Parse(string(w.label))
	if err != nil {
		return err
	}
	first, err := name.WithCopy(1)
	n, below := 0, names.MaxCopy
	for try := 0; err == nil && try < maxNames; try++ {
		highest := 0
		if highest, err = f.highest(ctx, db, s, w, first.StemKey, below); err != nil {
			break
		}
		n = max(n, highest) + 1
		copied, cerr := name.WithCopy(n)
		if cerr != nil {
			err = cerr
			break
		}
		query := fmt.Sprintf("UPDATE %s FORCE INDEX (PRIMARY) SET %s = %s, %s = %s, stem_key = %s, copy_no = %d, version = version + 1%s WHERE %s AND CAST(%[2]s AS BINARY) = %[10]s",
			ident.Quote(s.name), ident.Quote(f.res.Label.Column), keytype.Literal(copied.Display), ident.Quote(f.res.Label.Key), keytype.Literal([]byte(copied.Key)),
			keytype.Literal([]byte(copied.StemKey)), copied.Copy, s.keepTimes, ident.Quote(f.res.ID)+" = "+keytype.Literal(w.id), keytype.Literal(w.label))
		written, werr := onerow.Affected(ctx, db, query)
		if mysqlerr.Classify(werr) == mysqlerr.Duplicate {
			if n == names.MaxCopy { // anybody may have typed the last; what follows the highest below another is free
				n, below = 0, 1+rand.IntN(names.MaxCopy) //nolint:gosec // nobody gains by guessing it
			}
			continue
		}
		p.Copied += int(written)
		return werr
	}
	if err != nil && !nameError(err) {
		return err
	}
	p.Left = append(p.Left, f.left(s, w, holder.id, fmt.Errorf("%w by %s, and no copy of it is free", ErrNameTaken, f.Show(holder.id))))
	return nil
}

// highest reads the highest copy number of a stem below one: one entry of the index next_copy.
func (f *Filler) highest(ctx context.Context, db onerow.DB, s *side, w *row, stem string, below int) (n int, err error) {
	query := fmt.Sprintf("SELECT copy_no FROM %s WHERE %s AND stem_key = %s AND copy_no < %d ORDER BY copy_no DESC LIMIT 1", ident.Quote(s.name), f.ownerIs(w), keytype.Literal([]byte(stem)), below)
	err = onerow.Query(ctx, db, query, nil, func(r *sql.Rows) error { return r.Scan(&n) })
	return n, err
}
