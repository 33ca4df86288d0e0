package edgefuzz

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// Kinds of findings of rows.
const (
	brokenVerb  = "a verb does not answer for its row"
	brokenRow   = "a row is not where its verbs have put it"
	brokenKids  = "what is below a row is not what was put there"
	brokenList  = "a list has not each row once"
	brokenAuto  = "AUTO_INCREMENT gave an id that it could not"
	brokenTrash = "what was deleted does not come back"
)

func (l *placed[N]) act(ctx context.Context, seed uint64, callers *sync.WaitGroup) {
	for i, m := range l.models {
		r := l.w.Rand(seed | uint64(i)) //nolint:gosec // small
		callers.Go(func() {
			for range 10 {
				if !l.step(ctx, m, r) {
					return // what is wrong once is wrong again
				}
			}
		})
	}
	if l.auto {
		for i := range 2 {
			r := l.w.Rand(seed | 100 | uint64(i)) //nolint:gosec // small
			callers.Go(func() { l.exhaust(ctx, r, fmt.Sprint("new ", i)) })
		}
	}
}

// errFull stands for what servers say of an AUTO_INCREMENT that has no more: the driver's error, as it is.
var errFull = errors.New("AUTO_INCREMENT has no more")

// exhaust creates rows until AUTO_INCREMENT has no more, and then some.
func (l *placed[N]) exhaust(ctx context.Context, r *rand.Rand, name string) {
	for i := range 4 {
		res, err := l.rows.Create(ctx, l.w.pick(r), row[N]{Owner: l.owners[1], Name: fmt.Sprint(name, " ", i)})
		if mysqlerr.Number(err) == 167 || mysqlerr.Number(err) == 1264 || mysqlerr.Number(err) == 1467 {
			err = errFull
		}
		l.w.note(l.name+": Create", err, repo.ErrConflict, errFull)
		if err != nil && l.t.bits == 64 {
			return // this is run again for seconds
		}
		if err != nil {
			continue
		}
		l.mu.Lock()
		if id := uint64(res.Row.ID); l.made[res.Row.ID] || id < l.first || id > l.t.most() {
			l.w.found.Add(brokenAuto, "%s: %d", l.name, res.Row.ID)
		}
		l.made[res.Row.ID] = true
		l.mu.Unlock()
	}
}

// step runs a verb on a row and follows it; false means that it is lost.
func (l *placed[N]) step(ctx context.Context, m *model[N], r *rand.Rand) bool {
	db, before := l.w.pick(r), *m
	what, err := l.verb(ctx, db, m, r)
	m.history = append(m.history, what)
	if err == nil {
		l.w.done.Add(1)
		return true
	}
	l.w.refused.Add(1)
	if onerow.Retryable(err) || errors.Is(err, repo.ErrNameTaken) && (what == "create" || what == "rename") {
		return true
	}
	l.w.found.Add(brokenVerb, "%s %d, %s of %+v: %v", l.name, m.row.ID, what, before, err)
	return false
}

// errNotSo is an answer that is wrong.
func (m *model[N]) same(got row[N], want schema.State) error {
	expected := m.row
	expected.State, expected.Name = want, got.Name // it may be a copy
	if got != expected {
		return fmt.Errorf("the answer is %+v, not %+v", got, expected)
	}
	m.row = got
	return nil
}

// verb draws one that the row's state allows.
func (l *placed[N]) verb(ctx context.Context, db onerow.DB, m *model[N], r *rand.Rand) (what string, err error) {
	switch {
	case m.gone:
		return "get what is gone", l.absent(ctx, db, m, r)
	case m.hidden:
		if r.IntN(3) == 0 {
			return "get what is hidden", l.absent(ctx, db, m, r)
		}
		res, err := l.rows.CancelDelete(ctx, db, m.row.ID)
		if err == nil {
			m.hidden = false
			err = m.same(res.Row, schema.Active)
			if m.was == schema.Archived {
				err = m.same(res.Row, schema.Archived)
			}
		}
		return "cancel", err
	case m.row.State == "":
		m.row.Name = fmt.Sprint("row ", r.IntN(4))
		m.row.Owner = l.owners[r.IntN(2)]
		res, err := l.rows.Create(ctx, db, m.row)
		if err == nil {
			err = m.same(res.Row, schema.Active)
		}
		return "create", err
	}
	switch r.IntN(11) {
	case 0, 1:
		return l.remove(ctx, db, m, r)
	case 2, 3:
		res, err := l.kids.Create(ctx, db, kid[N]{RowID: m.row.ID})
		if err == nil {
			m.kids[res.Row.ID] = true
		}
		return "kid", err
	case 4:
		got, err := l.rows.Get(ctx, db, m.row.ID)
		if err == nil {
			err = m.same(got, m.row.State)
		}
		return "get", err
	case 5:
		if l.auto || m.row.ID == 0 {
			return "nothing", nil
		}
		res, err := l.rows.Create(ctx, db, m.row)
		if err == nil && !res.Replayed {
			err = errors.New("it was made again")
		}
		if err == nil {
			err = m.same(res.Row, m.row.State)
		}
		return "repeat", err
	}
	return l.move(ctx, db, m, r)
}

// absent says whether a row is not there for anybody.
func (l *placed[N]) absent(ctx context.Context, db onerow.DB, m *model[N], r *rand.Rand) error {
	got, err := l.rows.Get(ctx, db, m.row.ID)
	if !errors.Is(err, onerow.ErrNotFound) {
		return fmt.Errorf("there is %+v: %w", got, err)
	}
	if m.gone && !l.auto && r.IntN(2) == 0 {
		want := repo.ErrGone
		if m.row.ID == 0 {
			want = onerow.ErrInvalidKey
		}
		if res, err := l.rows.Create(ctx, db, m.row); !errors.Is(err, want) {
			return fmt.Errorf("made again: %+v: %w", res, err)
		}
	}
	return nil
}

// remove deletes a row, at once or after an hour.
func (l *placed[N]) remove(ctx context.Context, db onerow.DB, m *model[N], r *rand.Rand) (what string, err error) {
	var opts []repo.DeleteOption
	what = "delete"
	if r.IntN(3) > 0 {
		what, opts = "hide", []repo.DeleteOption{repo.Grace(time.Hour)}
	}
	res, err := l.rows.Delete(ctx, db, m.row.ID, opts...)
	if err == nil {
		m.was, m.job = m.row.State, res.JobID
		m.gone, m.hidden = what == "delete", what == "hide"
	}
	return what, err //nolint:wrapcheck // it is looked at
}

// move archives, activates, renames or updates a row, or gives it to the other owner.
func (l *placed[N]) move(ctx context.Context, db onerow.DB, m *model[N], r *rand.Rand) (what string, err error) {
	var res onerow.Result[row[N]]
	if m.row.State == schema.Archived {
		if res, err = l.rows.Activate(ctx, db, m.row.ID); err == nil {
			err = m.same(res.Row, schema.Active)
		}
		return "activate", err
	}
	switch r.IntN(6) {
	case 0:
		what = "rename"
		res, err = l.rows.Rename(ctx, db, m.row.ID, fmt.Sprint("row ", r.IntN(4)))
	case 1:
		what = "update"
		note := fmt.Sprintf("note %d of %d", r.IntN(9), m.row.ID)
		if res, err = l.rows.Update(ctx, db, m.row.ID, func(row *row[N]) error { row.Note = note; return nil }); err == nil {
			m.row.Note = note
		}
	case 2:
		what = "to the other owner"
		owner := l.owners[r.IntN(2)]
		if res, err = l.rows.Move(ctx, db, m.row.ID, func(row *row[N]) error { row.Owner = owner; return nil }); err == nil {
			m.row.Owner = owner
		}
	default:
		what = "archive"
		if res, err = l.rows.Archive(ctx, db, m.row.ID); err == nil {
			m.row.State = schema.Archived
		}
	}
	if err == nil {
		err = m.same(res.Row, m.row.State)
	}
	return what, err
}
