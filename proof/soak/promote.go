package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
)

const (
	startReplica = `START REPLICA`
	stopReceiver = `STOP REPLICA IO_THREAD`
	stopReplica  = `STOP REPLICA`
	startAgain   = `START REPLICA IO_THREAD`
	forgetSource = `RESET REPLICA ALL`
	readStatus   = `SHOW GLOBAL STATUS LIKE `
)

// status is a number that a server says of itself.
func status(ctx context.Context, db *sql.DB, variable string) (n int, err error) {
	var name string
	if err := db.QueryRowContext(ctx, readStatus+"'"+variable+"'").Scan(&name, &n); err != nil {
		return 0, fmt.Errorf("soak: %s: %w", variable, err)
	}
	return n, nil
}

// receivedBy asks what a replica has, its relay log included.
func (c *replicas) receivedBy(ctx context.Context, db *sql.DB) (position string, err error) {
	if c.received == mysqlDialect.received {
		if err := db.QueryRowContext(ctx, c.received).Scan(&position); err != nil {
			return "", fmt.Errorf("soak: %w", err)
		}
		return position, nil
	}
	row, err := showReplica(ctx, db)
	return row["Gtid_IO_Pos"], err
}

// showReplica is SHOW REPLICA STATUS, by columns.
func showReplica(ctx context.Context, db *sql.DB) (_ map[string]string, err error) {
	rows, err := db.QueryContext(ctx, `SHOW REPLICA STATUS`)
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	names, err := rows.Columns()
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	values, into := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	if !rows.Next() {
		return nil, errors.Join(errors.New("soak: it is no replica"), rows.Err())
	}
	if err := rows.Scan(into...); err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	row := map[string]string{}
	for i, name := range names {
		row[name] = values[i].String
	}
	return row, rows.Err()
}

// caughtUp waits until both replicas acknowledge, and have applied what the primary has written.
func (c *replicas) caughtUp(ctx context.Context) error {
	var position string
	err := c.on(c.primary, func(db *sql.DB) error {
		if c.semi {
			ok, err := settled(ctx, joinPatience, func() (bool, error) {
				n, err := status(ctx, db, c.acknowledging)
				return n == len(c.servers)-1, err
			})
			if err == nil && !ok {
				err = fmt.Errorf("soak: not all replicas acknowledge within %v", joinPatience)
			}
			if err != nil {
				return err
			}
		}
		return db.QueryRowContext(ctx, c.written).Scan(&position)
	})
	if err != nil {
		return err
	}
	for i := range c.servers {
		if i == c.primary {
			continue
		}
		if err := c.on(i, func(db *sql.DB) error { return c.applied(ctx, db, position) }); err != nil {
			return fmt.Errorf("%w (server %d)", err, i)
		}
	}
	return nil
}

// applied waits until a replica has applied what a position says.
func (c *replicas) applied(ctx context.Context, db *sql.DB, position string) error {
	var in sql.NullInt64
	if err := db.QueryRowContext(ctx, c.await, position).Scan(&in); err != nil {
		return fmt.Errorf("soak: wait for a replica: %w", err)
	}
	if in.Valid && in.Int64 == 0 {
		return nil
	}
	row, err := showReplica(ctx, db)
	return errors.Join(fmt.Errorf("soak: a replica has not applied %s within five minutes: %s %s", position, row["Last_SQL_Error"], row["Last_IO_Error"]), err)
}

// failOver kills the primary, promotes the replica that has most, and makes the old primary anew.
func (c *replicas) failOver(ctx context.Context, s *soak) error {
	old := c.primary
	if err := c.allAcknowledged(ctx); err != nil {
		return err
	}
	s.chaos.serverKills.Add(1)
	if err := c.servers[old].kill(); err != nil {
		return err
	}
	best, err := c.best(ctx, old)
	if err != nil {
		return err
	}
	if err := c.promote(ctx, s, best); err != nil {
		return err
	}
	other := 3 - old - best
	if err := c.exec(ctx, other, startAgain); err != nil {
		return err
	}
	if err := s.route(); err != nil {
		return err
	}
	return c.remake(ctx, s, old, other)
}

// promote makes a replica the primary.
func (c *replicas) promote(ctx context.Context, s *soak, node int) error {
	enable := []string{stopReplica, forgetSource}
	if c.semi {
		enable = append(enable, c.semiOn)
	}
	if err := c.exec(ctx, node, append(enable, c.writable)...); err != nil {
		return err
	}
	c.primary = node
	s.chaos.promotions.Add(1)
	return c.wire.to(c.servers[node].addr()) // it is open again, if it was cut
}

// handOver makes the primary read only, in the midst of what it does, and a replica the primary that has all
// of it. The old primary goes on as a replica, with the sessions that it has.
func (c *replicas) handOver(ctx context.Context, s *soak, r *rand.Rand) error {
	old := c.primary
	if err := c.exec(ctx, old, c.readOnly); err != nil {
		return err
	}
	if err := c.caughtUp(ctx); err != nil {
		return err
	}
	s.chaos.handOvers.Add(1)
	heir := (old + 1 + r.IntN(2)) % 3
	if err := c.promote(ctx, s, heir); err != nil {
		return err
	}
	follow := []string{c.retire, fmt.Sprintf(c.follow, c.port), startReplica}
	if c.semi {
		follow = append([]string{c.semiOff}, follow...)
	}
	if err := c.exec(ctx, old, follow...); err != nil {
		return err
	}
	if err := s.route(); err != nil {
		return err
	}
	return c.caughtUp(ctx)
}

// allAcknowledged is an error if the primary has committed what no replica has confirmed: it would not be
// semi-synchronous, and a soak would show nothing.
func (c *replicas) allAcknowledged(ctx context.Context) error {
	if !c.semi {
		return nil
	}
	return c.on(c.primary, func(db *sql.DB) error {
		n, err := status(ctx, db, c.alone)
		if err == nil && n > 0 {
			err = fmt.Errorf("soak: the primary has committed %d transactions that no replica acknowledged", n)
		}
		return err
	})
}

// best is the replica that has received most, when it has applied that.
func (c *replicas) best(ctx context.Context, old int) (best int, err error) {
	best = -1
	var most string
	for i := range c.servers {
		if i == old {
			continue
		}
		err := c.on(i, func(db *sql.DB) error {
			if _, err := db.ExecContext(ctx, stopReceiver); err != nil {
				return fmt.Errorf("soak: %w", err)
			}
			has, err := c.receivedBy(ctx, db)
			if err != nil || best < 0 {
				best, most = i, has
				return err
			}
			var covered bool
			if err := db.QueryRowContext(ctx, c.covers, has, most).Scan(&covered); err != nil {
				return fmt.Errorf("soak: %w", err)
			}
			if !covered {
				best, most = i, has
			}
			return nil
		})
		if err != nil {
			return best, err
		}
	}
	return best, c.on(best, func(db *sql.DB) error { return c.applied(ctx, db, most) })
}

// remake makes a server anew, as a copy of a replica, which is stopped for that: commits wait meanwhile.
func (c *replicas) remake(ctx context.Context, s *soak, old, from int) error {
	if err := errors.Join(c.servers[from].close(), copyData(c.servers[from], c.servers[old])); err != nil {
		return err
	}
	for _, i := range []int{from, old} {
		if err := c.servers[i].start(ctx); err != nil {
			return err
		}
		if err := c.exec(ctx, i, startReplica); err != nil {
			return err
		}
	}
	if err := s.route(); err != nil {
		return err
	}
	return c.caughtUp(ctx)
}
