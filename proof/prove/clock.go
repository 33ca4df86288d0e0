package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

var clockChecks = []check{
	{
		name: "clock", promise: promiseZombie, with: plain,
		fix:  "let the server's machine keep its time by NTP without steps, and set no timestamp in DSN or init_connect: leases are written with it",
		what: "the database's clock has microseconds, goes on, and never back, in two sessions in turn", run: clock,
	},
	{
		name: "node-clock", promise: promiseZombie, with: plain,
		fix:  "let the machines of the nodes keep their time by NTP: a lease that was written by one is over by the other's clock",
		what: "the clock of -node is that of -dsn, within a second", run: nodeClock,
	},
	{
		name: "times", promise: promiseTimes, with: plain,
		fix:  "look for triggers and for sessions whose time zone a proxy sets",
		what: "a moment is the same in DATETIME(6) and TIMESTAMP(6), written and read in two time zones", run: times,
	},
}

// sqlNow is a text that is ordered as the moment is. SYSDATE would ignore a timestamp of the session's.
const sqlNow = `SELECT DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%d %H:%i:%s.%f')`

const clockLayout = "2006-01-02 15:04:05.000000"

// clock reads two sessions in turn.
func clock(ctx context.Context, s *site) (string, error) {
	var conns [2]*sql.Conn
	for i := range conns {
		conn, err := s.plain.Conn(ctx)
		if err != nil {
			return "", err
		}
		defer conn.Close() //nolint:errcheck // it was only read
		conns[i] = conn
	}
	begin, reads := time.Now(), 20*s.rounds()
	var first, last string
	whole := true
	for i := range reads {
		var now string
		if err := conns[i%2].QueryRowContext(ctx, sqlNow).Scan(&now); err != nil {
			return "", err
		}
		if first == "" {
			first = now
		}
		if now < last {
			return "", fmt.Errorf("the clock went back from %s to %s", last, now)
		}
		last = now
		whole = whole && strings.HasSuffix(now, ".000000")
	}
	took, here := time.Duration(0), time.Since(begin)
	from, err1 := time.Parse(clockLayout, first)
	to, err2 := time.Parse(clockLayout, last)
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	took = to.Sub(from)
	switch {
	case took == 0:
		return "", fmt.Errorf("the clock stands still at %s", first)
	case whole:
		return "", errors.New("the clock has no microseconds")
	case took > 2*here+100*time.Millisecond || took < here/2-100*time.Millisecond:
		return "", fmt.Errorf("the clock went on by %v while %v passed here", took, here)
	}
	return fmt.Sprintf("%d reads, never back", reads), nil
}

// nodeClock asks the node between two looks at the first server.
func nodeClock(ctx context.Context, s *site) (_ string, err error) {
	db, err := s.at(ctx, "-node", s.others.node, false)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var at [3]time.Time
	for i, from := range []*sql.DB{s.plain, db, s.plain} {
		var now string
		if err := from.QueryRowContext(ctx, sqlNow).Scan(&now); err != nil {
			return "", err
		}
		if at[i], err = time.Parse(clockLayout, now); err != nil {
			return "", err
		}
	}
	const most = time.Second
	if early, late := at[0].Sub(at[1]), at[1].Sub(at[2]); early > most || late > most {
		return "", fmt.Errorf("the node's clock says %s, and the first server's %s", at[1].Format(clockLayout), at[2].Format(clockLayout))
	}
	return "within a second", nil
}

// times writes in one zone and reads in another.
func times(ctx context.Context, s *site) (_ string, err error) {
	conn, err := s.plain.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer discard(conn) // its time zone is not the pool's
	for i, zones := range [][2]string{{"+09:00", "-05:00"}, {"-05:00", "+09:00"}} {
		var off int64
		for _, statement := range []string{`SET time_zone = '` + zones[0] + `'`,
			fmt.Sprintf(`INSERT INTO prove_time (id, at, stamp) VALUES (%d, UTC_TIMESTAMP(6), CURRENT_TIMESTAMP(6))`, i+1), `SET time_zone = '` + zones[1] + `'`} {
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				return "", err
			}
		}
		if err := conn.QueryRowContext(ctx, `SELECT ABS(TIMESTAMPDIFF(MICROSECOND, at, CONVERT_TZ(stamp, ?, '+00:00'))) FROM prove_time WHERE id = ?`, zones[1], i+1).Scan(&off); err != nil {
			return "", err
		}
		if off != 0 {
			return "", fmt.Errorf("written at %s and read at %s, a moment is %d microseconds off", zones[0], zones[1], off)
		}
	}
	return "to the microsecond", nil
}
