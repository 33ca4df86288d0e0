package adoptfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// maxInsert is how many rows all writers insert in a round: with more of them the backfill never gets to an
// end on a machine that is slow, nor does the round.
const maxInsert = 500

// writer is a program that goes on while the table is adopted. It has rows of its own, told by tokens that it
// makes, and knows what it did to them. Sessions of the old one are in another time zone.
type writer struct {
	*round
	r           *rand.Rand
	old, taught *sql.DB
	knows       atomic.Bool // it has been taught, so that it writes keys and times
	kind        names.Kind  // of its keys then
	book        book
	tokens      []int64 // that may be there
	next, step  int64
	inserted    int
}

// Lost and refused answers of the server, as the number of its error.
var (
	lostAnswers = []uint16{1053, 1317, 1927, 3168, 3169}
	waited      = []uint16{1205, 1213, 1020, 1180, 1412}
	altered     = []uint16{1054, 1146, 1091, 1932} // while somebody has renamed the table or the name's column
	held        = []uint16{1451}                   // a watch refers to the row
)

// exec sends a statement, and says whether it was done, and if not whether it may have been.
func (w *writer) exec(ctx context.Context, db *sql.DB, query string, args ...any) (done, unknown bool) {
	_, err := db.ExecContext(ctx, query, args...)
	w.counts.writes.Add(1)
	var refused *mysql.MySQLError
	switch {
	case err == nil:
		return true, false
	case !errors.As(err, &refused), slices.Contains(lostAnswers, refused.Number):
		w.counts.unknown.Add(1)
		fuzz.Pause(ctx, 30*time.Millisecond)
		return false, true
	}
	w.counts.refused.Add(1)
	allowed := slices.Concat(waited, altered, held)
	if w.knows.Load() {
		allowed = waited
	}
	if !slices.Contains(allowed, refused.Number) {
		w.found.Add(brokenWriter, "%v: %.200s", err, query)
	}
	fuzz.Pause(ctx, 5*time.Millisecond)
	return false, false
}

// run writes until ctx ends.
func (w *writer) run(ctx, sends context.Context) {
	for fuzz.Pause(ctx, time.Duration(w.r.Int64N(int64(4*time.Millisecond)))) {
		if w.knows.Load() {
			w.writeTaught(sends)
		} else {
			w.writeOld(sends)
		}
	}
}

// writeOld is one statement of a program that knows nothing of the toolkit.
func (w *writer) writeOld(ctx context.Context) {
	switch n := w.r.IntN(100); {
	case n < 2 && w.mayInsert():
		w.insert(ctx, 20+w.r.IntN(60))
	case n < 25 && w.mayInsert(), len(w.tokens) < 20:
		w.insert(ctx, 1+w.r.IntN(2))
	case n < 60:
		w.update(ctx, w.pick(), drawTitle(w.r))
	case n < 75:
		w.update(ctx, w.pick(), "")
	case n < 88:
		w.note(ctx, w.pick())
	case n < 90 || w.mayInsert():
		t := w.pick()
		if done, unknown := w.exec(ctx, w.old, "DELETE FROM "+w.table("tickets")+" WHERE token = ?", t.token); done || unknown {
			t.write(func(s *state) { *s = state{gone: true} }, unknown)
			if done {
				w.forget(t)
			}
		}
	}
}

func (w *writer) mayInsert() bool { return w.inserted < maxInsert/writers }

// pick draws a row that may be there.
func (w *writer) pick() *ticket { return w.book[w.tokens[w.r.IntN(len(w.tokens))]] }

func (w *writer) forget(t *ticket) {
	i := slices.Index(w.tokens, t.token)
	w.tokens[i] = w.tokens[len(w.tokens)-1]
	w.tokens = w.tokens[:len(w.tokens)-1]
}

// fresh makes rows that are not there yet.
func (w *writer) fresh(n int) (all []*ticket) {
	w.inserted += n
	for range n {
		w.next += writers
		all = append(all, &ticket{token: w.next, desk: w.next%desks + 1, may: []state{{gone: true}}, notes: map[int64]bool{}})
	}
	return all
}

// bodyOf is a value of a row that nobody changes.
func bodyOf(token int64) string { return fmt.Sprintf("Wörter of '%d' \\", token) }

// insert adds rows, all of them or none.
func (w *writer) insert(ctx context.Context, n int) {
	rows := w.fresh(n)
	values := make([]string, n)
	var args []any
	states := make([]state, n)
	for i, t := range rows {
		w.step++
		states[i] = state{title: drawTitle(w.r), price: w.step}
		values[i] = "(?, ?, ?, ?, ?)"
		args = append(args, t.token, t.desk, states[i].title, w.step, bodyOf(t.token))
	}
	begin := time.Now()
	done, unknown := w.exec(ctx, w.old, "INSERT INTO "+w.table("tickets")+" (token, desk_id, title, price, body) VALUES "+strings.Join(values, ", "), args...)
	if done || unknown {
		w.keep(rows, states, within(begin, time.Now()), unknown)
	}
}

func (w *writer) keep(rows []*ticket, states []state, at span, unknown bool) {
	for i, t := range rows {
		s := states[i] //nolint:gosec // there is one for each row
		s.created, s.updated = at, at
		t.may = []state{s}
		if unknown {
			t.may = append(t.may, state{gone: true})
		}
		w.book[t.token] = t
		w.tokens = append(w.tokens, t.token)
	}
}

// update changes the price, and the title unless it is empty.
func (w *writer) update(ctx context.Context, t *ticket, title string) {
	w.step++
	price, set, args := w.step, "price = ?", []any{w.step}
	if title != "" {
		set, args = set+", title = ?", append(args, title)
	}
	db := w.old
	if w.knows.Load() {
		db, set = w.taught, set+", updated_at = UTC_TIMESTAMP(6)"
		if title != "" {
			n, err := w.kind.Parse(title)
			if err != nil {
				w.found.Add(brokenWriter, "%q: %v", title, err)
				return
			}
			set, args = set+", title_key = ?, stem_key = ?, copy_no = ?", append(args, []byte(n.Key), []byte(n.StemKey), n.Copy)
		}
	}
	begin := time.Now()
	done, unknown := w.exec(ctx, db, "UPDATE "+w.table("tickets")+" SET "+set+" WHERE token = ?", append(args, t.token)...)
	if done || unknown {
		at := within(begin, time.Now())
		t.write(func(s *state) {
			s.price, s.updated = price, at
			if title != "" {
				s.title = title
			}
		}, unknown)
	}
}

// note adds a row below one.
func (w *writer) note(ctx context.Context, t *ticket) {
	w.next += writers
	done, unknown := w.exec(ctx, w.old, "INSERT INTO "+w.table("note")+" (token, ticket_id) SELECT ?, id FROM "+w.table("tickets")+" WHERE token = ?", w.next, t.token)
	if done || unknown {
		t.notes[w.next] = done && !slices.ContainsFunc(t.may, func(s state) bool { return s.gone })
	}
}

// writeTaught is one statement of a program that was taught: it writes all that the last file wants.
func (w *writer) writeTaught(ctx context.Context) {
	w.step++
	title := fmt.Sprintf("Taught %d-%d", w.next%writers, w.step)
	switch n := w.r.IntN(3); {
	case n == 0 && w.mayInsert():
		w.insertTaught(ctx, title)
	case n < 2:
		w.update(ctx, w.pick(), title)
	default:
		w.update(ctx, w.pick(), "")
	}
}

func (w *writer) insertTaught(ctx context.Context, title string) {
	n, err := w.kind.Parse(title)
	if err != nil {
		w.found.Add(brokenWriter, "%q: %v", title, err)
		return
	}
	t := w.fresh(1)
	begin := time.Now()
	done, unknown := w.exec(ctx, w.taught, "INSERT INTO "+w.table("tickets")+" (token, desk_id, title, price, body, title_key, stem_key, copy_no, created_at, updated_at)"+
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", t[0].token, t[0].desk, title, w.step, bodyOf(t[0].token), []byte(n.Key), []byte(n.StemKey), n.Copy)
	if done || unknown {
		w.keep(t, []state{{title: title, price: w.step}}, within(begin, time.Now()), unknown)
	}
}

// mend gives another name to each row whose name can have no key, as a person does whom the backfill tells.
func (w *writer) mend(ctx context.Context) {
	for _, token := range w.book.living() {
		for try := 0; try < 40 && w.keyless(w.book[token]); try++ {
			w.update(ctx, w.book[token], fmt.Sprintf("Mended %d", token))
		}
	}
}

func (w *writer) keyless(t *ticket) bool {
	return slices.ContainsFunc(t.may, func(s state) bool {
		_, err := w.kind.Parse(s.title)
		return !s.gone && err != nil
	})
}
