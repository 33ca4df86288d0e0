package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/ordering"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// logs are three tables whose rows are kept for two days: a TIMESTAMP, a DATETIME in UTC and one of New York.
var logs = func() (plan schema.Plan) {
	for _, name := range []string{"stamped", "universal", "local_time"} {
		keep := &schema.Retention{Column: "at", Keep: schema.Age(48 * time.Hour)}
		if name == "local_time" {
			keep.Zone = "America/New_York"
		}
		plan.Tables = append(plan.Tables, schema.Table{Name: name, Key: []string{"id"}, Retention: keep})
	}
	return plan
}()

// retained deletes what is three hours too old and keeps what is three hours too young, whatever the zone of
// the worker's sessions is.
func retained(ctx context.Context, s *scene) error {
	if err := s.plant(ctx, logs, "CREATE TABLE stamped (id BIGINT AUTO_INCREMENT PRIMARY KEY, at TIMESTAMP(6) NULL, KEY at (at)) ENGINE=InnoDB",
		"CREATE TABLE universal (id BIGINT AUTO_INCREMENT PRIMARY KEY, at DATETIME NULL, KEY at (at)) ENGINE=InnoDB",
		"CREATE TABLE local_time (id BIGINT AUTO_INCREMENT PRIMARY KEY, at DATETIME NULL, KEY at (at)) ENGINE=InnoDB"); err != nil {
		return err
	}
	york, err := time.LoadLocation("America/New_York")
	if err != nil {
		return err
	}
	for round, zone := range append(zones, "") {
		for _, hours := range []time.Duration{51, 45} {
			at := time.Now().Add(-hours * time.Hour)
			_, err := s.plain.ExecContext(ctx, "INSERT INTO universal (at) VALUES (?)", at.UTC().Format(time.DateTime))
			if err == nil {
				_, err = s.plain.ExecContext(ctx, "INSERT INTO local_time (at) VALUES (?)", at.In(york).Format(time.DateTime))
			}
			if err == nil {
				_, err = s.plain.ExecContext(ctx, "INSERT INTO stamped (at) VALUES (FROM_UNIXTIME(?))", at.Unix())
			}
			if err != nil {
				return err
			}
		}
		db, err := s.pool(zone)
		if err != nil {
			return err
		}
		worker, err := cascade.NewWorker(db, logs, cascade.Config{Poll: 20 * time.Millisecond})
		if err != nil {
			return err
		}
		if err := s.whileRunning(ctx, worker, int64(3*round+3), "SELECT (SELECT COUNT(*) FROM stamped) + (SELECT COUNT(*) FROM universal) + (SELECT COUNT(*) FROM local_time)"); err != nil {
			return fmt.Errorf("sessions with %q: %w", zone, err)
		}
		for _, t := range logs.Tables {
			if err := s.want(ctx, int64(round+1), "SELECT COUNT(*) FROM "+t.Name); err != nil { //nolint:gosec // its own table
				return fmt.Errorf("sessions with %q: %w", zone, err)
			}
		}
	}
	return nil
}

// whileRunning runs a worker until a query answers a number, and for another second and a half.
func (s *scene) whileRunning(ctx context.Context, worker *cascade.Worker, number int64, query string) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(running) }()
	_, err := fuzz.Within(ctx, 15*time.Second, func() (bool, error) { return s.want(ctx, number, query) == nil, nil })
	fuzz.Pause(ctx, 1500*time.Millisecond)
	err = errors.Join(err, s.want(ctx, number, query))
	stop()
	return errors.Join(err, <-ended)
}

// runs are jobs of somebody else, that refer to the job that began them.
var runs = schema.Plan{Tables: []schema.Table{{
	Name: "run", Key: []string{"id"}, Retention: &schema.Retention{Column: "ended_at", Keep: schema.Age(48 * time.Hour)},
	Parents: []schema.Edge{{Table: "run", Columns: []string{"parent_id"}}},
}}}

// groomed lets runs go that refer to each other by a foreign key, the last of all ids among them.
func groomed(ctx context.Context, s *scene) error {
	if err := s.plant(ctx, runs, `CREATE TABLE run (id BIGINT AUTO_INCREMENT PRIMARY KEY, parent_id BIGINT NULL, ended_at DATETIME NULL, KEY parent_id (parent_id), KEY ended_at (ended_at),
FOREIGN KEY (parent_id) REFERENCES run (id)) ENGINE=InnoDB`,
		"INSERT INTO run VALUES (1, NULL, UTC_TIMESTAMP() - INTERVAL 9 DAY), (2, 1, UTC_TIMESTAMP() - INTERVAL 9 DAY), (3, 1, UTC_TIMESTAMP() - INTERVAL 8 DAY)",
		"INSERT INTO run VALUES (4, NULL, UTC_TIMESTAMP() - INTERVAL 1 HOUR), (5, 4, UTC_TIMESTAMP() - INTERVAL 9 DAY)", // only the second is old
		"INSERT INTO run VALUES (6, NULL, UTC_TIMESTAMP() - INTERVAL 9 DAY), (7, 6, UTC_TIMESTAMP() - INTERVAL 9 DAY), (8, 7, UTC_TIMESTAMP() - INTERVAL 9 DAY), (9, 8, UTC_TIMESTAMP() - INTERVAL 9 DAY)",
	); err != nil {
		return err
	}
	_, err := s.plain.ExecContext(ctx, "DELETE FROM run WHERE ended_at < UTC_TIMESTAMP() - INTERVAL 2 DAY ORDER BY id")
	s.note = fmt.Sprintf("by hand: error %d of a DELETE by age", number(err))
	worker, err := cascade.NewWorker(s.db, runs, cascade.Config{Poll: 20 * time.Millisecond})
	if err := first(err, live.Verify(ctx, s.db, runs)); err != nil {
		return err
	}
	return first(s.whileRunning(ctx, worker, 1, "SELECT COUNT(*) FROM run"), s.want(ctx, 4, "SELECT MIN(id) FROM run"),
		s.want(ctx, 0, "SELECT COUNT(*) FROM onerow_job_archive WHERE state <> 'done'"))
}

// sameSecond lets the end of a run come before its beginning, both with the time of the same second.
func sameSecond(ctx context.Context, s *scene) error {
	if err := s.plant(ctx, schema.Plan{}, "CREATE TABLE build (id INT PRIMARY KEY, state VARCHAR(20) NOT NULL, at BIGINT NULL)", "INSERT INTO build VALUES (1, '', NULL), (2, '', NULL)"); err != nil {
		return err
	}
	at := time.Now().Truncate(time.Second)
	guard := ordering.ByTime{Table: "build", ID: "id", At: "at"}
	update := func(id int, state string) (ordering.Outcome, error) {
		return guard.Update(ctx, s.db, id, at, ordering.Change{Set: map[string]any{"state": state}})
	}
	ended, err := update(1, "completed")
	late, lateErr := update(1, "in_progress")
	if err := first(err, lateErr, unless(ended == ordering.Applied && late != ordering.Applied, "%s, %s", ended, late),
		s.want(ctx, 1, "SELECT COUNT(*) FROM build WHERE id = 1 AND state = 'completed'")); err != nil {
		return err
	}
	// In their order the second is refused as well, and its sender is told: such a stream needs numbers.
	begun, err := update(2, "in_progress")
	refused, refusedErr := update(2, "completed")
	if err := first(err, refusedErr, unless(begun == ordering.Applied && refused != ordering.Applied && refused != "", "%s, %q", begun, refused)); err != nil {
		return err
	}
	stream := ordering.Guard[string]{Consumer: "builds", Hold: true, First: 1}
	for _, m := range []ordering.Message{{Sequence: 2, Payload: []byte("completed")}, {Sequence: 1, Payload: []byte("in_progress")}, {Sequence: 1, Payload: []byte("in_progress")}} {
		m.Stream = "build/3"
		if _, err := stream.Apply(ctx, s.db, m, func(_ context.Context, _ *onerow.Tx, m ordering.Message, state *string) error {
			*state += "," + string(m.Payload)
			return nil
		}); err != nil {
			return err
		}
	}
	read, err := stream.Read(ctx, s.db, "build/3")
	return first(err, unless(read.State == ",in_progress,completed", "by numbers: %q", read.State))
}

// sameInstant claims, gives back and takes over a key as fast as it can: no two holders have one token.
func sameInstant(ctx context.Context, s *scene) error {
	if err := s.plant(ctx, schema.Plan{}); err != nil {
		return err
	}
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	key := idempotency.Key{Operation: "schedule", ID: "7"}
	var old []idempotency.Claim
	for i := range 24 {
		claim, out, err := idempotency.Begin[string](ctx, s.db, keys, key, idempotency.Options{Lease: time.Millisecond})
		if err != nil || out != nil {
			return fmt.Errorf("claim %d: %w, %v", i, err, out)
		}
		if len(old) > 0 && claim.Token <= old[len(old)-1].Token {
			return fmt.Errorf("token %d behind %d", claim.Token, old[len(old)-1].Token)
		}
		for _, stale := range old[max(len(old)-2, 0):] {
			for what, err := range map[string]error{
				"Complete": keys.Complete(ctx, s.db, stale, "stale"),
				"Extend":   keys.Extend(ctx, s.db, stale, idempotency.Options{Lease: time.Hour}),
				"Release":  keys.Release(ctx, s.db, stale),
				"Owned":    keys.Owned(ctx, s.db, stale, func(context.Context, *onerow.Tx) error { return errors.New("it was let in") }),
			} {
				if !errors.Is(err, idempotency.ErrLost) {
					return fmt.Errorf("%s of an old holder: %w", what, err)
				}
			}
		}
		old = append(old, claim)
		if i%2 == 0 {
			if err := keys.Release(ctx, s.db, claim); err != nil {
				return err
			}
		} else {
			time.Sleep(2 * time.Millisecond) // the lease ends
		}
	}
	return nil
}
