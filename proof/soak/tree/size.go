package tree

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// size deletes 2 million rows below one root: alone at full speed, for memory; alone with the settings of a
// worker that is to stay in the background; and with these beside a foreground on the same tables.
type size struct {
	rows, small, clients   int
	share, load            float64
	target, measure        time.Duration
	window, settle         time.Duration
	rounds                 int
	elsewhere, spin, short bool
}

// The promises.
const (
	memoryWithin = 20 << 20
	p99Within    = 1.5
	speedWithin  = 0.2
)

func (s *size) run(ctx context.Context) (err error) {
	server, db, err := begin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close(), server.Close()) }()
	dsn := server.DSN(database)
	gentle := []string{"-load", fmt.Sprint(s.load), "-target", s.target.String()}
	if s.spin {
		return s.spinning(ctx, db, dsn, gentle)
	}

	small, _, err := s.alone(ctx, db, dsn, s.small)
	if err != nil {
		return err
	}
	large, full, err := s.alone(ctx, db, dsn, s.rows)
	if err != nil {
		return err
	}
	_, alone, err := s.alone(ctx, db, dsn, s.rows/10, gentle...)
	if err != nil {
		return err
	}
	fg, err := settle(ctx, db, s.clients)
	if err != nil {
		return err
	}
	there := db
	if s.elsewhere {
		other, otherDB, begun := begin(ctx)
		if begun != nil {
			return begun
		}
		defer func() { err = errors.Join(err, otherDB.Close(), other.Close()) }()
		there, dsn = otherDB, other.DSN(database)
	}
	beside, ratio, err := s.beside(ctx, fg, there, dsn, gentle)
	if err != nil {
		return err
	}
	fmt.Printf("\nmemory: %+.1f MB for %d rows over %d   (promised: within %d MB)\n", float64(large-small)/(1<<20), s.rows, s.small, memoryWithin>>20)
	fmt.Printf("p99 of the foreground: %.2f times the unloaded   (promised: %.1f)\n", ratio, p99Within)
	fmt.Printf("deletion: %.2f of its own unloaded rate   (promised: %.1f), %.2f of that with the same settings\n", beside/full, speedWithin, beside/alone)
	if large-small > memoryWithin || !s.short && (ratio > p99Within || beside/full < speedWithin) {
		return errors.New("a promise is broken")
	}
	return nil
}

// spinning measures the control: the foreground beside a process that only spins.
func (s *size) spinning(ctx context.Context, db *sql.DB, dsn string, settings []string) error {
	fg, err := settle(ctx, db, s.clients)
	if err != nil {
		return err
	}
	_, ratio, err := s.beside(ctx, fg, db, dsn, settings)
	if err == nil {
		fmt.Printf("\np99 of the foreground: %.2f times the unloaded, beside a process that only spins %v\n", ratio, settings)
	}
	return err
}

// alone deletes that many rows with nobody else there.
func (s *size) alone(ctx context.Context, db *sql.DB, dsn string, rows int, settings ...string) (peak int64, perSecond float64, err error) {
	account, below, err := plant(ctx, db, rows)
	if err != nil {
		return 0, 0, err
	}
	job, err := condemn(ctx, db, account)
	if err != nil {
		return 0, 0, err
	}
	if peak, err = drained(ctx, dsn, settings...); err != nil {
		return 0, 0, err
	}
	d, ended, err := took(ctx, db, job.ID)
	if err != nil {
		return 0, 0, err
	}
	if ended.DeletedRows != below {
		return 0, 0, fmt.Errorf("%d rows were below the account, the job counted %d", below, ended.DeletedRows)
	}
	perSecond = float64(below) / d.Seconds()
	fmt.Printf("alone: %d rows in %v, %.0f rows/s, the worker's memory at most %.1f MB %v\n", below, d.Round(time.Millisecond), perSecond, float64(peak)/(1<<20), settings)
	return peak, perSecond, nil
}
