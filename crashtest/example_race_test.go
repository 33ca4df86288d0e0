package crashtest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow/crashtest"
)

var errTaken = errors.New("the seat is taken")

// BookNaively looks whether the seat is free, and then takes it.
func BookNaively(ctx context.Context, db *sql.DB, seat int, who string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	var n int
	if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM booking WHERE seat = ?", seat).Scan(&n); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if n > 0 {
		return errors.Join(errTaken, tx.Rollback())
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO booking (seat, who) VALUES (?, ?)", seat, who); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Book lets a unique key decide who gets the seat.
func Book(ctx context.Context, db *sql.DB, seat int, who string) error {
	_, err := db.ExecContext(ctx, "INSERT INTO seat_taken (seat, who) VALUES (?, ?)", seat, who)
	if isDuplicate(err) {
		return errTaken
	}
	return err
}

// race lets ann and bob ask for the same seat at once.
func race(dsn string, book func(ctx context.Context, db *sql.DB, seat int, who string) error) crashtest.Race {
	return crashtest.Race{
		Workflow: crashtest.Workflow{Name: "book", DSN: dsn, Setup: func(ctx context.Context, db *sql.DB) error {
			_, booked := db.ExecContext(ctx, "DELETE FROM booking")
			_, taken := db.ExecContext(ctx, "DELETE FROM seat_taken")
			return errors.Join(booked, taken)
		}},
		Calls: []func(ctx context.Context, db *sql.DB) error{
			func(ctx context.Context, db *sql.DB) error { return book(ctx, db, 7, "ann") },
			func(ctx context.Context, db *sql.DB) error { return book(ctx, db, 7, "bob") },
		},
	}
}

// Two people ask for the same seat, and both get it. In a test call Interleave instead of ExploreRace.
func ExampleExploreRace_failing() {
	dsn, drop := exampleSchema()
	defer drop()

	_, err := crashtest.ExploreRace(context.Background(), race(dsn, BookNaively))
	var failures *crashtest.Failures
	if errors.As(err, &failures) {
		fmt.Println(failures.List[0])
	}
	// Output:
	// schedule AABBBBAA (1 preemption); crashtest.Replay(ctx, race, "AABBBBAA") runs it again
	//   step  | A                                              | B
	//      1  | START TRANSACTION                              |
	//      2  | SELECT COUNT(*) FROM booking WHERE seat = ?    |
	//      3  |                                                | START TRANSACTION
	//      4  |                                                | SELECT COUNT(*) FROM booking WHERE seat = ?
	//      5  |                                                | INSERT INTO booking (seat, who) VALUES (?, ?)
	//      6  |                                                | COMMIT
	//      7  | INSERT INTO booking (seat, who) VALUES (?, ?)  |
	//      8  | COMMIT                                         |
	// A was answered: nil
	// B was answered: nil
	// the tables are not those after the copies one after the other in any order; nearest: AB, answers nil, "the seat is taken" (- serial, + interleaved):
	// table booking: 1 row serially, 2 rows interleaved
	//      id  seat  who
	//   +  #2  7     bob
}

// The same with a unique key: whatever the order, one of them gets the seat and the other is told.
func ExampleExploreRace() {
	dsn, drop := exampleSchema()
	defer drop()

	report, err := crashtest.ExploreRace(context.Background(), race(dsn, Book))
	fmt.Printf("%d interleavings, %d right ends, %v\n", report.Schedules, report.Serial, err)
	// Output: 2 interleavings, 2 right ends, <nil>
}

// Replay runs the schedule that a failure named, here one that is right.
func ExampleReplay() {
	dsn, drop := exampleSchema()
	defer drop()

	r := race(dsn, nil)
	add := func(ctx context.Context, db *sql.DB) (err error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance + 5 WHERE id = 1"); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	}
	r.Calls = nil
	r.Call, r.Setup = add, setup
	table, err := crashtest.Replay(context.Background(), r, "AABB")
	fmt.Print(table)
	fmt.Println(err)
	// Output:
	// step  | A                                                 | B
	//      1  | START TRANSACTION                                 |
	//      2  | UPDATE account SET balance = balance + 5 WHERE …  |
	//      3  |                                                   | START TRANSACTION
	//      4  |                                                   | UPDATE account SET balance = balance + 5…  waits
	//      5  | COMMIT                                            |
	//         |                                                   | (4) goes on
	//      6  |                                                   | COMMIT
	// <nil>
}
