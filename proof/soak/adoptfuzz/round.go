package adoptfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/schema/live"
)

// writers are how many programs write beside the backfill.
const writers = 2

// round is the adoption of one table, in a database of its own.
type round struct {
	*world
	number     uint64
	database   string
	dir, files string
	dsn        string // of the commands, whose connections are cut
	shape      shape
	final      version
	began      time.Time
	renaming   atomic.Bool // somebody has run the backfill with --copies
	operating  sync.Mutex  // one operator at a time runs files
	watches    int64

	admin     *sql.DB // in the quiet database, not cut
	operators *sql.DB // for the files
	others    *sql.DB // of whoever alters the table
	writers   []*writer
}

// rand draws for one part of the round.
func (r *round) rand(part uint64) *rand.Rand { return r.Rand(r.number<<8 | part) }

// table is the name of a table for sessions in another database.
func (r *round) table(name string) string { return ident.Quote(r.database) + "." + ident.Quote(name) }

// round makes a table that somebody else has designed, adopts it, deletes some of its rows, and judges.
func (w *world) round(ctx context.Context) (err error) {
	r := &round{world: w, number: uint64(w.counts.rounds.Load()) + 1, began: time.Now()} //nolint:gosec // small
	r.database = fmt.Sprint("adopt", r.number)
	rnd := r.rand(0)
	r.shape, r.final = drawShape(rnd), version(rnd.IntN(versions))
	if r.dir, err = os.MkdirTemp(w.server.dir, r.database+"-"); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	fmt.Printf("   round %d: the plan is %v, %+v\n", r.number, r.final, r.shape)
	close, err := r.setUp(ctx, rnd)
	defer close()
	if err != nil {
		return err
	}
	trouble, stop := context.WithCancel(ctx)
	var killers sync.WaitGroup
	killers.Go(func() { r.sessions(trouble, r.rand(1)) })
	have, err := r.adopt(ctx, rnd)
	if err == nil {
		r.at.Store("deletes")
		err = r.delete(ctx, rnd, have)
	}
	stop()
	killers.Wait()
	if err == nil && !r.found.Any() {
		_, err = r.admin.ExecContext(ctx, "DROP DATABASE "+ident.Quote(r.database))
	}
	r.counts.rounds.Add(1)
	return err
}

// setUp makes the tables, the plans and the pools.
func (r *round) setUp(ctx context.Context, rnd *rand.Rand) (close func(), err error) {
	var pools []*sql.DB
	close = func() {
		for _, db := range pools {
			fuzz.Close(db)
		}
	}
	s := r.server
	if err := errors.Join(r.writePlans(), s.now.CreateDatabase(ctx, r.database)); err != nil {
		return close, err
	}
	r.dsn = fuzz.DSN(s.now, s.wild.Addr(), r.database, "")
	open := func(to *fuzz.Cutter, database, params string) *sql.DB {
		db, oerr := s.plain(to, database, params)
		err = errors.Join(err, oerr)
		pools = append(pools, db)
		return db
	}
	r.admin = open(s.calm, quiet, "time_zone=%27%2B00%3A00%27")
	r.others = open(s.wild, r.database, "lock_wait_timeout=3&innodb_lock_wait_timeout=3")
	old := open(s.calm, quiet, "time_zone=%27%2B05%3A30%27")
	var operr error
	r.operators, operr = s.guarded(s.wild, r.database)
	pools = append(pools, r.operators)
	calm := open(s.calm, r.database, "time_zone=%27%2B00%3A00%27")
	if err = errors.Join(err, operr); err != nil {
		return close, err
	}
	if err = migrations.Up(ctx, calm); err != nil {
		return close, err //nolint:wrapcheck // it says all
	}
	for _, statement := range r.shape.tables() {
		if _, err = calm.ExecContext(ctx, statement); err != nil {
			return close, fmt.Errorf("soak: %w: %s", err, statement)
		}
	}
	for i := range writers {
		w := &writer{round: r, r: r.rand(uint64(50 + i)), old: old, taught: r.admin, kind: r.final.kind(), book: book{}, next: int64(i),
			step: 1 << 20} // above all tokens, which are the first prices: an update to the price that a row has leaves its time
		r.writers = append(r.writers, w)
		if err = w.seed(ctx, calm, r.rows/4+rnd.IntN(r.rows/2)); err != nil {
			return close, err
		}
	}
	return close, nil
}

// seed makes the rows that are there before anything else.
func (w *writer) seed(ctx context.Context, db *sql.DB, n int) error {
	var tickets, notes, watches []string
	var args []any
	for _, t := range w.fresh(n) {
		s := state{title: drawTitle(w.r), price: t.token, created: w.during(), updated: w.during()}
		t.id = t.token
		columns := "(?, ?, ?, ?, ?, ?"
		args = append(args, t.id, t.token, t.desk, s.title, s.price, bodyOf(t.token))
		if w.shape.times {
			created := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(t.token) * time.Second)
			updated := created.AddDate(1, 0, 0)
			s.created, s.updated = span{created.UnixMicro(), created.UnixMicro()}, span{updated.UnixMicro(), updated.UnixMicro()}
			columns += created.Format(", '2006-01-02 15:04:05'") + updated.Format(", '2006-01-02 15:04:05'")
		}
		tickets, t.may = append(tickets, columns+")"), []state{s}
		w.book[t.token], w.tokens = t, append(w.tokens, t.token)
		for range w.r.IntN(3) {
			note := 1_000_000 + int64(len(notes)*writers) + t.token%writers
			t.notes[note] = true
			notes = append(notes, fmt.Sprintf("(%d, %d)", note, t.id))
		}
		if w.r.IntN(5) == 0 {
			watches = append(watches, fmt.Sprintf("(%d, %[1]d)", t.id))
		}
	}
	w.watches += int64(len(watches))
	w.inserted = 0 // these do not count
	columns := "id, token, desk_id, title, price, body"
	if w.shape.times {
		columns += ", created_at, updated_at"
	}
	_, err := db.ExecContext(ctx, fmt.Sprintf("INSERT INTO tickets (%s) VALUES %s", columns, strings.Join(tickets, ", ")), args...)
	if err == nil {
		_, err = db.ExecContext(ctx, fmt.Sprintf("INSERT INTO note (token, ticket_id) VALUES %s", strings.Join(notes, ", ")))
	}
	if err == nil {
		_, err = db.ExecContext(ctx, fmt.Sprintf("INSERT INTO watch (id, ticket_id) VALUES %s", strings.Join(watches, ", ")))
	}
	return err //nolint:wrapcheck // it says all
}

// during is when the round was.
func (r *round) during() span { return within(r.began, time.Now().Add(time.Hour)) }

// beside runs work while the writers write.
func (r *round) beside(ctx context.Context, work func() error) error {
	writing, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	for _, w := range r.writers {
		all.Go(func() { w.run(writing, ctx) })
	}
	err := work()
	stop()
	return errors.Join(err, fuzz.Ended(&all, r.found))
}

var errNoEnd = errors.New("soak: a round does not come to its end")

// adopt makes a resource of the table, and returns its rows.
func (r *round) adopt(ctx context.Context, rnd *rand.Rand) (have tables, err error) {
	expand := func() error {
		r.at.Store("runs the files before the backfill")
		if !r.despite(ctx, "the files before the backfill", func() error { return r.migrate(ctx, false) }) {
			return errNoEnd
		}
		return nil
	}
	err = r.beside(ctx, func() error {
		if err := expand(); err != nil {
			return err
		}
		r.at.Store("fills in, in trouble")
		return r.trouble(ctx, rnd)
	})
	if err != nil {
		return have, err
	}
	for _, w := range r.writers {
		w.mend(ctx)
		w.inserted = 0
		w.knows.Store(true)
	}
	if err := expand(); err != nil {
		return have, err
	}
	err = r.beside(ctx, func() error { return r.finish(ctx) })
	if err != nil {
		return have, err
	}
	return r.judgeAdopted(ctx)
}

// finish fills in what is left, beside writers that were taught, and runs the other files.
func (r *round) finish(ctx context.Context) error {
	r.at.Store("fills in the rest")
	whole := func() error {
		if a := r.backfill(ctx, r.final, true, "1", 0); a.code != 0 {
			return fmt.Errorf("exit code %d: %s%s", a.code, a.out, a.err)
		}
		return nil
	}
	if !r.despite(ctx, "the backfill", whole) {
		return errNoEnd
	}
	r.at.Store("runs the last files")
	if !r.despite(ctx, "the last files", func() error {
		err := r.migrate(ctx, true)
		if err != nil && strings.Contains(err.Error(), "rows lack values") {
			r.found.Add(brokenKey, "behind the last backfill: %v", err)
		}
		return err
	}) {
		return errNoEnd
	}
	return nil
}

// judgeAdopted judges the table, with nobody at work.
func (r *round) judgeAdopted(ctx context.Context) (have tables, err error) {
	again := r.killer.Rest()
	defer again()
	r.at.Store("is judged")
	if !r.until(ctx, "verify", func() error {
		if a := r.command(ctx, r.final, 0, "verify"); a.code != 0 {
			return fmt.Errorf("exit code %d: %s%s", a.code, a.out, a.err)
		}
		return nil
	}) {
		return have, errNoEnd
	}
	db, err := r.server.guarded(r.server.calm, r.database)
	if err != nil {
		return have, err
	}
	defer fuzz.Close(db)
	if err := live.Verify(ctx, db, r.shape.plan(r.final)); err != nil {
		r.found.Add(brokenVerify, "%v", err)
	}
	if !r.until(ctx, "a backfill of nothing", func() error {
		a := r.backfill(ctx, r.final, false, "1", 0)
		if a.code == 0 && !strings.Contains(a.out, " 0 writes, 0 renamed") {
			r.found.Add(brokenKey, "the backfill behind the last one: %s", a.out)
		}
		if a.code != 0 {
			return fmt.Errorf("exit code %d: %s%s", a.code, a.out, a.err)
		}
		return nil
	}) {
		return have, errNoEnd
	}
	if have, err = r.read(ctx); err != nil {
		return have, err
	}
	r.counts.rows.Add(int64(len(have.tickets)))
	books := make([]book, 0, writers)
	for _, w := range r.writers {
		books = append(books, w.book)
	}
	priority := ""
	if r.final == column {
		priority = "|3"
	}
	a := adopted{want: merged(books...), have: have, kind: r.final.kind(), copies: r.renaming.Load(), times: r.shape.times, watches: r.watches, during: r.during(),
		rest: func(token int64) string { return restOf(token, priority) }}
	a.judge(r.found.Add)
	return have, nil
}
