package limit_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/internal/recount"
	"github.com/onerow/onerow/internal/zonetest"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/repo"
)

type call = func(ctx context.Context, db *sql.DB) error

// one file of user 7 is "a" (active), one "b" (archived), "c" may be made.
func (s shop) calls() map[string]call {
	file := func(id int64, fn func(ctx context.Context, db *sql.DB, id int64) error) call {
		return func(ctx context.Context, db *sql.DB) error { return fn(ctx, db, id) }
	}
	create := func(name string, bytes int64, opts ...repo.CreateOption) call {
		return func(ctx context.Context, db *sql.DB) error {
			_, err := s.files.Create(ctx, db, File{UserID: 7, Name: name, Bytes: bytes}, append(opts, repo.RequestID(name))...)
			return err
		}
	}
	update := func(bytes int64) call {
		return file(7000001, func(ctx context.Context, db *sql.DB, id int64) error {
			return second(s.files.Update(ctx, db, id, func(f *File) error { f.Bytes = bytes; return nil }))
		})
	}
	reserve := func(key string, n int64, lasts time.Duration) call {
		return func(ctx context.Context, db *sql.DB) error { return second(s.bytes.Reserve(ctx, db, key, n, lasts, 7)) }
	}
	maximum := func(files int64) call {
		return func(ctx context.Context, db *sql.DB) error {
			return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				_, err := tx.ExecContext(ctx, "UPDATE user SET files = ? WHERE id = 7", files)
				return errors.Join(err, s.number.Changed(ctx, tx, 7))
			})
		}
	}
	return map[string]call{
		"create c":     create("c", 10),
		"create d":     create("d", 10),
		"create large": create("e", 95),
		"archive a":    file(7000001, func(ctx context.Context, db *sql.DB, id int64) error { return second(s.files.Archive(ctx, db, id)) }),
		"activate b":   file(7000002, func(ctx context.Context, db *sql.DB, id int64) error { return second(s.files.Activate(ctx, db, id)) }),
		"delete a":     file(7000001, func(ctx context.Context, db *sql.DB, id int64) error { return second(s.files.Delete(ctx, db, id)) }),
		"hide a": file(7000001, func(ctx context.Context, db *sql.DB, id int64) error {
			return second(s.files.Delete(ctx, db, id, repo.Grace(time.Hour)))
		}),
		"undo a": file(7000001, func(ctx context.Context, db *sql.DB, id int64) error {
			return second(s.files.CancelDelete(ctx, db, id))
		}),
		"more bytes":   update(60),
		"less bytes":   update(5),
		"reserve":      reserve("up", 30, time.Hour),
		"reserve much": reserve("much", 80, time.Hour),
		"reserve late": reserve("late", 20, time.Microsecond),
		"use":          create("u", 30, repo.UseReservation(s.bytes, "up")),
		"use more":     create("v", 40, repo.UseReservation(s.bytes, "up")),
		"use less":     create("w", 20, repo.UseReservation(s.bytes, "up")),
		"use late":     create("x", 20, repo.UseReservation(s.bytes, "late")),
		"cancel":       func(ctx context.Context, db *sql.DB) error { return s.bytes.Cancel(ctx, db, "up", 7) },
		"recount":      func(ctx context.Context, db *sql.DB) error { return s.number.Recount(ctx, db, 7) },
		"lower":        maximum(1),
		"higher":       maximum(3),
		"sweep": func(ctx context.Context, db *sql.DB) error {
			return second(limit.NewSweeper(db, limit.Config{Every: time.Nanosecond}, s.number, s.bytes).RunOnce(ctx))
		},
		"note": func(ctx context.Context, db *sql.DB) error { return recount.Limit(ctx, db, "file", "7") },
		"uncounted": func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, "DELETE FROM onerow_limit")
			return err
		},
	}
}

var tables = []string{"file", "file_archive", "user", "onerow_limit", "onerow_reservation", "onerow_request",
	"onerow_deletion", "onerow_job", "onerow_job_archive", "onerow_job_count"}

// workflow begins with user 7, who may have 2 files and 100 bytes and has the active "a" and the archived "b".
func (s shop) workflow(dsn, name string, before ...string) crashtest.Workflow {
	return crashtest.Workflow{
		Name: "limit: " + name, DSN: dsn, Empty: tables, Tables: tables,
		Setup: func(ctx context.Context, db *sql.DB) error {
			if _, err := db.ExecContext(ctx, "INSERT INTO user (id, files, bytes) VALUES (7, 2, 100)"); err != nil {
				return err
			}
			must(s.create(ctx, db, 7, "a", 10))
			must(s.files.Archive(ctx, db, must(s.create(ctx, db, 7, "b", 20)).ID))
			for _, query := range []string{"UPDATE file SET id = 7000001", "UPDATE file_archive SET id = 7000002"} {
				if _, err := db.ExecContext(ctx, query); err != nil {
					return err
				}
			}
			for _, call := range before {
				if err := s.calls()[call](ctx, db); err != nil {
					return err
				}
			}
			return nil
		},
		Refs: map[string]string{"onerow_request.row_id": "file.id", "onerow_job_archive.id": "onerow_job.id", "onerow_job_archive.deletion_id": "onerow_job.deletion_id",
			"file_archive.deletion_id": "onerow_job.deletion_id"},
		Generated: []string{"onerow_job.deletion_id"},
		Ignore:    []string{"onerow_limit.version", "onerow_request.call_token", "onerow_job.batch_seq", "onerow_job_archive.batch_seq"},
		Sets:      []string{"onerow_deletion"},
		Check: func(ctx context.Context, db *sql.DB) error {
			return s.rooms(ctx, db, 7, strings.Contains(name, "lower"))
		},
	}
}

// refusable takes a refusal for an answer.
func refusable(c call) call {
	return func(ctx context.Context, db *sql.DB) error {
		if err := c(ctx, db); !errors.Is(err, limit.ErrLimit) {
			return err
		}
		return nil
	}
}

// fault is a verb, what was done before, and how many fault points it has at least.
type fault struct {
	call, before string
	min          int
}

var faults = []fault{
	{"create c", "", 60}, {"create c", "uncounted", 150}, {"create c", "activate b", 140}, {"create c", "activate b, note", 140},
	{"create large", "reserve late", 100},
	{"archive a", "", 60}, {"activate b", "", 60}, {"activate b", "create c", 140},
	{"delete a", "", 60}, {"delete a", "uncounted", 60}, {"hide a", "", 60}, {"undo a", "hide a", 60}, {"more bytes", "", 40}, {"less bytes", "", 40},
	{"reserve", "", 40}, {"reserve", "reserve", 40}, {"reserve much", "reserve", 100}, {"use", "reserve", 60}, {"use more", "reserve", 60}, {"use less", "reserve", 60},
	{"use late", "reserve late", 60}, {"cancel", "reserve", 40}, {"recount", "", 60}, {"lower", "", 40}, {"higher", "", 40},
	{"sweep", "reserve late, note", 200},
}

func list(names string) []string {
	if names == "" {
		return nil
	}
	return strings.Split(names, ", ")
}

// TestSurvivesFaults fails every verb at every statement: the room is right then, and nothing is over.
func TestSurvivesFaults(t *testing.T) {
	s := newShop(t)
	for _, level := range levels {
		for part, some := range [][]fault{faults[:len(faults)/2], faults[len(faults)/2:]} {
			t.Run(fmt.Sprint(level, " ", part), func(t *testing.T) {
				t.Parallel()
				s.survive(t, level, some)
			})
		}
	}
}

func (s shop) survive(t *testing.T, level sql.IsolationLevel, some []fault) {
	_, dsn := open(t, dbtest.Isolation(level))
	for _, f := range some {
		name := f.call + " after " + f.before
		if level == sql.LevelRepeatableRead && !strings.Contains(f.before, "note") && !strings.Contains(f.before, "uncounted") {
			continue // a snapshot matters where something is counted
		}
		t.Run(name, func(t *testing.T) {
			w := s.workflow(dsn, name, list(f.before)...)
			w.Call = refusable(s.calls()[f.call])
			report := crashtest.Run(t, racetest.Share(w))
			t.Logf("workflow %s: %d fault points (%s, %s)", w.Name, report.FaultPoints, report.Engine, level)
			if report.FaultPoints < racetest.Least(f.min) {
				t.Errorf("only %d fault points", report.FaultPoints)
			}
		})
	}
}

// TestClocks: what the verbs write is UTC whatever the session's time zone.
func TestClocks(t *testing.T) {
	s := newShop(t)
	zonetest.Clocks(t, func(t *testing.T, zone dbtest.Option) (*sql.DB, []crashtest.Workflow) {
		db, dsn := open(t, zone)
		var all []crashtest.Workflow
		for _, f := range faults {
			w := s.workflow(dsn, f.call+" after "+f.before, list(f.before)...)
			w.Call, w.Check = refusable(s.calls()[f.call]), nil
			all = append(all, w)
		}
		return db, all
	})
}
