package adopt

import (
	"context"
	"database/sql"
	"errors"
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
func (p *pageFiller) writeOne(ctx context.Context, w *row) error {
	for try := 0; ; try++ {
		n, err := p.write(ctx, []*row{w})
		if mysqlerr.Classify(err) != mysqlerr.Duplicate {
			p.written += int(n)
			if n == 0 {
				p.moved++
			}
			return err
		}
		holder, herr := p.holder(ctx, w)
		switch {
		case herr != nil:
			return herr
		case holder == nil && try < 3:
			continue // it is gone
		case holder == nil:
			p.leave(w, nil, err) // another unique index refuses it
			return nil
		}
		if (holder.behind() || holder.wrong != nil) && p.keyMayBeNull && try < 3 {
			if err := p.release(ctx, holder); err != nil {
				return err
			}
			p.moved++ // it is without a key until the next pass
			continue
		}
		if p.withCopies {
			return p.rename(ctx, w, holder)
		}
		p.leave(w, holder.id, fmt.Errorf("%w by %s", errNameTaken, show(holder.id)))
		return nil
	}
}

// ownerIs is the condition on the owner's columns.
func (p *pageFiller) ownerIs(w *row) string {
	var parts []string
	for i, name := range p.res.Owners() {
		if w.owner[i] == nil {
			return "FALSE" // it is nobody's, so no name is taken
		}
		parts = append(parts, ident.Quote(name)+" = "+keytype.Literal(w.owner[i]))
	}
	return strings.Join(parts, " AND ")
}

// holder reads who has the row's key, by the unique index, or nil.
func (p *pageFiller) holder(ctx context.Context, w *row) (found *row, err error) {
	query := fmt.Sprintf("SELECT %s, CAST(%s AS BINARY), %s, stem_key, copy_no FROM %s WHERE %s AND %[3]s = %[6]s",
		ident.Quote(p.res.ID), ident.Quote(p.res.Label.Column), ident.Quote(p.res.Label.Key), ident.Quote(p.name), p.ownerIs(w), keytype.Literal([]byte(w.want.Key)))
	err = onerow.Query(ctx, p.db, query, nil, func(r *sql.Rows) error {
		h := &row{owner: w.owner}
		if err := r.Scan(p.id.Scan(func(v any) error { h.id = v; return nil }), &h.label, &h.key, &h.stem, &h.copyNo); err != nil {
			return err
		}
		h.want, h.wrong = p.res.Label.Kind.Parse(string(h.label))
		found = h
		return nil
	})
	return found, err
}

// release takes a key from a row that has another name by now: its writer did not know the key. It is written
// by the primary key.
func (p *pageFiller) release(ctx context.Context, h *row) error {
	query := fmt.Sprintf("UPDATE %s FORCE INDEX (PRIMARY) SET %s = NULL%s WHERE %s = %s AND %[2]s = %[6]s AND CAST(%[7]s AS BINARY) = %[8]s",
		ident.Quote(p.name), ident.Quote(p.res.Label.Key), p.keepTimes, ident.Quote(p.res.ID), keytype.Literal(h.id), keytype.Literal(h.key), ident.Quote(p.res.Label.Column), keytype.Literal(h.label))
	_, err := onerow.Affected(ctx, p.db, query)
	return err
}

// rename gives the row the next free copy of its name, as repo's Activate does: the highest number in use
// plus one, which the unique index decides about. It does not move updated_at.
func (p *pageFiller) rename(ctx context.Context, w, holder *row) error {
	first, err := w.want.WithCopy(1)
	n, below := 0, names.MaxCopy
	for try := 0; err == nil && try < maxNames; try++ {
		highest, herr := p.highest(ctx, w, first.StemKey, below)
		if herr != nil {
			return herr
		}
		n = max(n, highest) + 1
		var copied names.Parsed
		if copied, err = w.want.WithCopy(n); err != nil {
			break
		}
		query := fmt.Sprintf("UPDATE %s FORCE INDEX (PRIMARY) SET %s = %s, %s = %s, stem_key = %s, copy_no = %d, version = version + 1%s WHERE %s AND CAST(%[2]s AS BINARY) = %[10]s",
			ident.Quote(p.name), ident.Quote(p.res.Label.Column), keytype.Literal(copied.Display), ident.Quote(p.res.Label.Key), keytype.Literal([]byte(copied.Key)),
			keytype.Literal([]byte(copied.StemKey)), copied.Copy, p.keepTimes, ident.Quote(p.res.ID)+" = "+keytype.Literal(w.id), keytype.Literal(w.label))
		written, werr := onerow.Affected(ctx, p.db, query)
		if mysqlerr.Classify(werr) != mysqlerr.Duplicate {
			p.copied += int(written)
			return werr
		}
		if n == names.MaxCopy { // anybody may have typed the last; what follows the highest below another is free
			n, below = 0, 1+rand.IntN(names.MaxCopy) //nolint:gosec // nobody gains by guessing it
		}
	}
	if err != nil && !errors.Is(err, names.ErrTooManyCopies) {
		return err
	}
	p.leave(w, holder.id, fmt.Errorf("%w by %s, and no copy of it is free", errNameTaken, show(holder.id)))
	return nil
}

// highest reads the highest copy number of a stem below one: one entry of the index next_copy.
func (p *pageFiller) highest(ctx context.Context, w *row, stem string, below int) (n int, err error) {
	query := fmt.Sprintf("SELECT copy_no FROM %s WHERE %s AND stem_key = %s AND copy_no < %d ORDER BY copy_no DESC LIMIT 1", ident.Quote(p.name), p.ownerIs(w), keytype.Literal([]byte(stem)), below)
	err = onerow.Query(ctx, p.db, query, nil, func(r *sql.Rows) error { return r.Scan(&n) })
	return n, err
}
