package repo

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/jmoiron/sqlx/reflectx"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/schema"
)

// UseReservation makes Create use room that [limit.Rule.Reserve] holds under the key. Where the reservation
// is gone, it takes room like any other.
func UseReservation(rule *limit.Rule, key string) CreateOption {
	return func(o *createOptions) {
		if o.reserved == nil {
			o.reserved = map[string]string{}
		}
		o.reserved[rule.Name()] = key
	}
}

type limited struct {
	rule   *limit.Rule
	owners int   // how many of the owner's values share it
	sum    []int // the field of the column that is summed, nil where rows are counted
	column string
	most   int64 // of the column
}

// setLimits finds the rule of each limit that the plan declares.
func (r *untyped) setLimits(rules []*limit.Rule) (err error) {
	for _, l := range r.res.Limits {
		at := slices.IndexFunc(rules, func(rule *limit.Rule) bool { return rule.Name() == l.Name && rule.Resource() == r.res.Name })
		if at < 0 {
			return fmt.Errorf("repo: %q has the limit %q; give its rule to New", r.res.Name, l.Name)
		}
		one := limited{rule: rules[at], owners: len(l.Owners), column: l.Sum}
		if l.Sum != "" {
			t, err := keytype.Parse(columnType(r.res, l.Sum))
			field := slices.IndexFunc(r.fields.own, func(f field) bool { return f.column == l.Sum })
			if err == nil && field >= 0 {
				one.sum = r.fields.own[field].index
			}
			if one.sum == nil || !isInteger(r.typ.FieldByIndex(one.sum).Type) {
				return fmt.Errorf("repo: the limit %q of %q sums %q, for which T needs an integer field", l.Name, r.res.Name, l.Sum)
			}
			bits := 8 * t.Length // a server that is not strict would cut a larger amount
			if !t.Unsigned {
				bits--
			}
			one.most = min(limit.MaxAmount, int64(1)<<min(bits, 62)-1)
		}
		r.limits = append(r.limits, one)
	}
	for _, rule := range rules {
		if !slices.ContainsFunc(r.res.Limits, func(l schema.Limit) bool { return l.Name == rule.Name() }) {
			return fmt.Errorf("repo: the plan declares no limit %q for %q", rule.Name(), r.res.Name)
		}
	}
	return nil
}

func isInteger(t reflect.Type) bool { return t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 }

// value is what a row's field says, at most one more than an amount can be; 1 where rows are counted.
func (l limited) value(row reflect.Value) int64 {
	if l.sum == nil {
		return 1
	}
	v := reflectx.FieldByIndexesReadOnly(row, l.sum)
	if v.CanInt() {
		return min(v.Int(), limit.MaxAmount+1)
	}
	return int64(min(v.Uint(), uint64(limit.MaxAmount+1))) //nolint:gosec // it is not more
}

// amount is what a row counts for that a verb is to write.
func (l limited) amount(row reflect.Value) (int64, error) {
	if n := l.value(row); l.sum == nil || n >= 0 && n <= l.most {
		return n, nil
	}
	return 0, fmt.Errorf("%w: the column %q is %v; it holds 0 to %d", limit.ErrAmount, l.column, reflectx.FieldByIndexesReadOnly(row, l.sum), l.most)
}

// counted is what a stored row counts for: what no verb has written, as it is counted in SQL.
func (l limited) counted(row reflect.Value) int64 { return min(max(l.value(row), 0), limit.MaxAmount) }

// amounts refuses a row that counts for what no limit takes.
func (r *untyped) amounts(row reflect.Value) error {
	for _, l := range r.limits {
		if _, err := l.amount(row); err != nil {
			return err
		}
	}
	return nil
}

// newAmounts refuses what an update makes of a row, where it counts for another amount, which no limit takes.
func (r *untyped) newAmounts(before, after reflect.Value) error {
	for _, l := range r.limits {
		if l.sum == nil || reflectx.FieldByIndexesReadOnly(after, l.sum).Equal(reflectx.FieldByIndexesReadOnly(before, l.sum)) {
			continue
		}
		if _, err := l.amount(after); err != nil {
			return err
		}
	}
	return nil
}

// take takes the room that a row needs which has become active in this transaction: the last thing that a
// verb locks, for all rows of the owner may want it.
func (r *untyped) take(ctx context.Context, tx *onerow.Tx, row reflect.Value, owner []any, reserved map[string]string) error {
	for name := range reserved {
		if !slices.ContainsFunc(r.limits, func(l limited) bool { return l.rule.Name() == name }) {
			return fmt.Errorf("%w: a reservation of the limit %q, which is not of %q", ErrUnsupported, name, r.res.Name)
		}
	}
	for _, l := range r.limits {
		n, err := l.amount(row)
		if err != nil {
			return err
		}
		if key, found := reserved[l.rule.Name()]; found {
			err = l.rule.Use(ctx, tx, key, n, owner[:l.owners]...)
		} else {
			err = l.rule.Take(ctx, tx, n, owner[:l.owners]...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// give gives back what an active row took that is not active any more. A row that a deletion hides keeps it.
func (r *untyped) give(ctx context.Context, tx *onerow.Tx, h *lockedRow) error {
	for _, l := range r.limits {
		if err := l.rule.Give(ctx, tx, l.counted(h.row), h.owner[:l.owners]...); err != nil {
			return err
		}
	}
	return nil
}

// handOver gives back to the old owner what a moved active row needs of the new one's, in the order in which
// two rows that are exchanged lock the same.
func (r *untyped) handOver(ctx context.Context, tx *onerow.Tx, h *lockedRow, to []any) error {
	for _, l := range r.limits {
		from, err := onerow.EncodeKey(h.owner[:l.owners]...)
		into, ierr := onerow.EncodeKey(to[:l.owners]...)
		if err = cmp.Or(err, ierr); err != nil {
			return err
		}
		n := l.counted(h.row)
		if into < from {
			err = l.rule.Take(ctx, tx, n, to[:l.owners]...)
		}
		if err == nil && into != from {
			err = l.rule.Give(ctx, tx, n, h.owner[:l.owners]...)
		}
		if err == nil && into > from {
			err = l.rule.Take(ctx, tx, n, to[:l.owners]...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// adjust takes or gives the difference that an update of an active row makes.
func (r *untyped) adjust(ctx context.Context, tx *onerow.Tx, before, after reflect.Value, owner []any) error {
	for _, l := range r.limits {
		was := l.counted(before)
		if l.counted(after) == was {
			continue
		}
		now, err := l.amount(after)
		switch {
		case err != nil:
		case now > was:
			err = l.rule.Take(ctx, tx, now-was, owner[:l.owners]...)
		default:
			err = l.rule.Give(ctx, tx, was-now, owner[:l.owners]...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
