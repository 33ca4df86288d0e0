package crashtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

var bothLevels = []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead}

// stockTables are those of the races: what is there, what was taken, and who is on duty.
var stockTables = []string{
	"CREATE TABLE stock (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB",
	"CREATE TABLE booking (id BIGINT AUTO_INCREMENT PRIMARY KEY, seat INT NOT NULL, who VARCHAR(20) NOT NULL) ENGINE=InnoDB",
	"CREATE TABLE ticket (seat INT PRIMARY KEY, who VARCHAR(20) NOT NULL) ENGINE=InnoDB",
	"CREATE TABLE numbered (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE) ENGINE=InnoDB",
}

func stockDSN(t testing.TB, opts ...dbtest.Option) string {
	t.Helper()
	dsn := dbtest.DSN(t, opts...)
	mustExec(t, dbtest.OpenDSN(t, dsn), stockTables...)
	return dsn
}

func fullStock(ctx context.Context, db *sql.DB) error {
	for _, query := range []string{"DELETE FROM stock", "DELETE FROM booking", "DELETE FROM ticket", "DELETE FROM numbered", "INSERT INTO stock VALUES (1, 10), (2, 10)"} {
		if _, err := db.ExecContext(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

func stock(dsn string, call func(context.Context, *sql.DB) error) Race {
	return Race{Workflow: Workflow{Name: "stock", DSN: dsn, Setup: fullStock, Call: call}}
}

// sends is a transaction of the given statements.
func sends(queries ...string) func(context.Context, *sql.DB) error {
	return func(ctx context.Context, db *sql.DB) error {
		return inTx(ctx, db, func(tx *sql.Tx) error {
			for _, query := range queries {
				if _, err := tx.ExecContext(ctx, query); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// selects is a call of n reads that wait for nobody.
func selects(n int) func(context.Context, *sql.DB) error {
	return func(ctx context.Context, db *sql.DB) error {
		for range n {
			if _, err := db.ExecContext(ctx, "DO 0"); err != nil {
				return err
			}
		}
		return nil
	}
}

// bookNaively looks whether the seat is free and then takes it.
func bookNaively(who string) func(context.Context, *sql.DB) error {
	return func(ctx context.Context, db *sql.DB) error {
		return inTx(ctx, db, func(tx *sql.Tx) error {
			var n int
			if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM booking WHERE seat = 7").Scan(&n); err != nil {
				return err
			}
			if n > 0 {
				return errTaken
			}
			_, err := tx.ExecContext(ctx, "INSERT INTO booking (seat, who) VALUES (7, ?)", who)
			return err
		})
	}
}

var errTaken = errors.New("the seat is taken")

// bookByKey lets the primary key decide.
func bookByKey(who string) func(context.Context, *sql.DB) error {
	return func(ctx context.Context, db *sql.DB) error {
		err := inTx(ctx, db, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, "INSERT INTO ticket (seat, who) VALUES (7, ?)", who); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, "INSERT INTO booking (seat, who) VALUES (7, ?)", who)
			return err
		})
		if number(err) == 1062 {
			return errTaken
		}
		return err
	}
}

func takeNaively(ctx context.Context, db *sql.DB) error {
	return inTx(ctx, db, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT n FROM stock WHERE id = 1").Scan(&n); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE stock SET n = ? WHERE id = 1", n-1)
		return err
	})
}

// leaveDuty takes one row to 0 if the two together are enough: each copy reads both and writes its own.
func leaveDuty(id int) func(context.Context, *sql.DB) error {
	return func(ctx context.Context, db *sql.DB) error {
		return inTx(ctx, db, func(tx *sql.Tx) error {
			var sum int
			if err := tx.QueryRowContext(ctx, "SELECT SUM(n) FROM stock").Scan(&sum); err != nil {
				return err
			}
			if sum < 20 {
				return nil
			}
			_, err := tx.ExecContext(ctx, "UPDATE stock SET n = 0 WHERE id = ?", id)
			return err
		})
	}
}

type calls = []func(context.Context, *sql.DB) error

func TestRacesAreCaught(t *testing.T) {
	tests := []struct {
		name string
		race func(dsn string) Race
		// what the message must say
		says []string
	}{
		{"check then insert", func(dsn string) Race {
			r := stock(dsn, nil)
			r.Calls = calls{bookNaively("ann"), bookNaively("bob")}
			return r
		}, []string{"(1 preemption)", "SELECT COUNT(*)", "table booking: 1 row serially, 2 rows interleaved", "B was answered: nil"}},
		{"lost update", func(dsn string) Race { return stock(dsn, takeNaively) },
			[]string{"(1 preemption)", "-  1   8", "+  1   9"}},
		{"write skew", func(dsn string) Race {
			r := stock(dsn, nil)
			r.Calls = calls{leaveDuty(1), leaveDuty(2)}
			return r
		}, []string{"(1 preemption)", "table stock", "-  2   10", "+  2   0"}},
		{"deadlock, not repeated", func(dsn string) Race {
			r := stock(dsn, nil)
			r.Calls = calls{sends("UPDATE stock SET n = n+1 WHERE id = 1", "UPDATE stock SET n = n+1 WHERE id = 2"),
				sends("UPDATE stock SET n = n+1 WHERE id = 2", "UPDATE stock SET n = n+1 WHERE id = 1")}
			r.Again = func(error) bool { return false }
			return r
		}, []string{"waits", "deadlock (1213)", "1213"}},
		{"the same request twice", func(dsn string) Race {
			r := stock(dsn, func(ctx context.Context, db *sql.DB) error {
				_, err := db.ExecContext(ctx, "UPDATE stock SET n = n-1 WHERE id = 1")
				return err
			})
			r.AsOnce = true
			return r
		}, []string{"(0 preemptions)", "one call alone", "-  1   9", "+  1   8"}},
		{"a retry after a stop", func(dsn string) Race {
			r := stock(dsn, func(ctx context.Context, db *sql.DB) error {
				if _, err := db.ExecContext(ctx, "UPDATE stock SET n = n-1 WHERE id = 1"); err != nil {
					return err
				}
				_, err := db.ExecContext(ctx, "UPDATE stock SET n = n-1 WHERE id = 2")
				return err
			})
			r.Stops = true
			return r
		}, []string{"stops here", "asks again", "-  1   8", "+  1   7"}},
		{"Judge", func(dsn string) Race {
			r := stock(dsn, takeNaively)
			r.Judge = func(ctx context.Context, db *sql.DB, answers []error) error {
				var n int
				err := errors.Join(append(answers, db.QueryRowContext(ctx, "SELECT n FROM stock WHERE id = 1").Scan(&n))...)
				if err == nil && n != 8 {
					err = fmt.Errorf("%d left", n)
				}
				return err
			}
			return r
		}, []string{"Judge: 9 left"}},
		{"Check", func(dsn string) Race {
			r := stock(dsn, takeNaively)
			r.Check = func(ctx context.Context, db *sql.DB) error {
				var n int
				err := db.QueryRowContext(ctx, "SELECT n FROM stock WHERE id = 1").Scan(&n)
				if err == nil && n != 8 {
					err = fmt.Errorf("%d left", n)
				}
				return err
			}
			return r
		}, []string{"Check: 9 left"}},
	}
	for _, level := range bothLevels {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s/%s", tt.name, level), func(t *testing.T) {
				t.Parallel()
				race := tt.race(stockDSN(t, dbtest.Isolation(level), dbtest.StaleWrites()))
				report, err := ExploreRace(t.Context(), race)
				var failures *Failures
				if !errors.As(err, &failures) {
					t.Fatalf("not caught: %v\n%s", err, report)
				}
				for _, want := range append(tt.says, `workflow "stock"`) {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("the message lacks %q:\n%v", want, err)
					}
				}
				again, err := Replay(t.Context(), race, failures.List[0].Schedule)
				if !errors.As(err, &failures) || again != failures.List[0].Table {
					t.Errorf("Replay shows another thing (%v):\n%s%s", err, again, failures.List[0].Table)
				}
			})
		}
	}
}

func TestRightRacesPass(t *testing.T) {
	tests := []struct {
		name string
		race func(dsn string) Race
		good func(RaceReport) bool
	}{
		{"the key decides", func(dsn string) Race {
			r := stock(dsn, nil)
			r.Calls = calls{bookByKey("ann"), bookByKey("bob")}
			return r
		}, func(r RaceReport) bool { return r.Complete && r.Serial == 2 && r.Waits > 0 }},
		{"the UPDATE decides", func(dsn string) Race { return stock(dsn, sends("UPDATE stock SET n = n-1 WHERE id = 1")) },
			func(r RaceReport) bool { return r.Complete && r.Serial == 1 && r.Waits > 0 && r.Deadlocks == 0 }},
		{"three copies", func(dsn string) Race {
			r := stock(dsn, sends("UPDATE stock SET n = n-1 WHERE id = 1"))
			r.Calls, r.Every = slices.Repeat([]func(context.Context, *sql.DB) error{r.Call}, 3), -1
			return r
		}, func(r RaceReport) bool { return len(r.Statements) == 3 && r.Waits > 0 }},
		{"a share lock that waits", func(dsn string) Race {
			r := stock(dsn, nil)
			r.Calls = calls{sends("UPDATE stock SET n = n-1 WHERE id = 1", "UPDATE stock SET n = n+1 WHERE id = 2"),
				sends("SELECT n FROM stock WHERE id = 1 LOCK IN SHARE MODE", "UPDATE stock SET n = 7 WHERE id = 3")}
			return r
		}, func(r RaceReport) bool { return r.Complete && r.Waits > 0 }},
		{"deadlocks are repeated", func(dsn string) Race {
			r := stock(dsn, nil)
			r.Calls = calls{sends("UPDATE stock SET n = n+1 WHERE id = 1", "UPDATE stock SET n = n+1 WHERE id = 2"),
				sends("UPDATE stock SET n = n+1 WHERE id = 2", "UPDATE stock SET n = n+1 WHERE id = 1")}
			return r
		}, func(r RaceReport) bool { return r.Deadlocks > 0 }},
		{"deadlocks at AUTO_INCREMENT are repeated", func(dsn string) Race { // which are 1467 to MariaDB
			r := stock(dsn, nil)
			r.Calls = calls{sends("INSERT INTO numbered (name) VALUES ('a')", "INSERT INTO numbered (name) VALUES ('b')"),
				sends("INSERT INTO ticket VALUES (1, ''), (2, ''), (3, ''), (4, ''), (5, ''), (6, ''), (7, ''), (8, ''), (9, '')",
					"INSERT INTO numbered (name) SELECT 'a'")}
			return r
		}, func(r RaceReport) bool { return r.Complete && r.Serial == 2 && r.Waits > 0 }},
		{"called twice is called once", func(dsn string) Race {
			r := stock(dsn, func(ctx context.Context, db *sql.DB) error {
				if err := bookByKey("ann")(ctx, db); !errors.Is(err, errTaken) {
					return err
				}
				return nil
			})
			r.AsOnce, r.Stops = true, true
			return r
		}, func(r RaceReport) bool { return r.Serial == 1 && r.Stopped > 0 }},
		{"the key refuses all", func(dsn string) Race { return stock(dsn, sends("INSERT INTO stock VALUES (1, 1)")) },
			func(r RaceReport) bool { return r.Complete && r.Serial == 1 }},
		{"stops", func(dsn string) Race {
			r := stock(dsn, sends("UPDATE stock SET n = n-1 WHERE id = 1", "UPDATE stock SET n = n-1 WHERE id = 2"))
			r.Stops = true
			return r
		}, func(r RaceReport) bool { return r.Stopped > 5 }},
	}
	for _, level := range bothLevels {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s/%s", tt.name, level), func(t *testing.T) {
				t.Parallel()
				report := Interleave(t, tt.race(stockDSN(t, dbtest.Isolation(level))))
				if !tt.good(report) || report.Distinct != report.Schedules || report.Unsteady != 0 {
					t.Errorf("%+v", report)
				}
			})
		}
	}
}
