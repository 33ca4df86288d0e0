package retentionfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/onerow/onerow/proof/soak/fuzz"
)

// clock is that of the server, which only goes forward: by itself, and by jumps.
type clock struct {
	file string // libfaketime reads it once a second

	mu     sync.Mutex
	offset time.Duration
	jumps  []jump
}

type jump struct{ from, to time.Time }

// newClock begins at a moment, and says what the server has to know of it.
func newClock(ctx context.Context, dir string, at time.Time) (c *clock, env []string, err error) {
	cmd := exec.CommandContext(ctx, "scripts/get-faketime")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("soak: scripts/get-faketime: %w", err)
	}
	c = &clock{file: filepath.Join(dir, "clock"), offset: time.Until(at)}
	// The monotonic clock goes with it: a server of MySQL 9 whose two clocks differ does not start. Without
	// its cache libfaketime shows the real time now and then, where two threads ask at once.
	return c, []string{
		"LD_PRELOAD=" + strings.TrimSpace(string(out)), "FAKETIME_TIMESTAMP_FILE=" + c.file, "FAKETIME_CACHE_DURATION=1", "FAKETIME_DONT_FAKE_MONOTONIC=0",
	}, c.write()
}

// write replaces the file, so that nobody reads a half.
func (c *clock) write() error {
	text := fmt.Sprintf("%+.6f\n", c.offset.Seconds())
	if err := os.WriteFile(c.file+".new", []byte(text), 0o600); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	if err := os.Rename(c.file+".new", c.file); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	return nil
}

// now is about what the server's clock shows: it may be a second behind a jump.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

// sqlNow is the server's time in microseconds since 1970.
const sqlNow = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"

// set jumps forward, and returns when the server has done so.
func (c *clock) set(ctx context.Context, db *sql.DB, to time.Time) error {
	c.mu.Lock()
	if from := time.Now().Add(c.offset); to.After(from) {
		c.offset += to.Sub(from)
		c.jumps = append(c.jumps, jump{from, to})
	}
	err := c.write()
	c.mu.Unlock()
	if err != nil {
		return err
	}
	var off time.Duration
	ok, err := fuzz.Within(ctx, 10*time.Second, func() (bool, error) {
		var micro int64
		err := db.QueryRowContext(ctx, "SELECT "+sqlNow).Scan(&micro)
		off = time.UnixMicro(micro).Sub(c.now())
		return off.Abs() < 2*time.Second, err //nolint:wrapcheck // it says all
	})
	if ok || err != nil || ctx.Err() != nil {
		return err //nolint:wrapcheck // it says all
	}
	return fmt.Errorf("soak: the server's clock does not follow: it is %v off", off)
}

// before is a moment of the server's clock that was so much real time ago at another one: where it has jumped
// meanwhile, before the jump.
func (c *clock) before(at time.Time, ago time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.jumps) - 1; i >= 0; i-- {
		j := c.jumps[i]
		if j.to.After(at) {
			continue
		}
		if since := at.Sub(j.to); since < ago {
			ago, at = ago-since, j.from
		} else {
			break
		}
	}
	return at.Add(-ago)
}

// teach has the server know a zone by its name, from Go's own tables: a private server has none.
func teach(ctx context.Context, db *sql.DB, zone *time.Location) error {
	const id = 60002
	from := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC).In(zone)
	kinds := map[string]int{}
	var errs []error
	exec := func(query string, args ...any) {
		_, err := db.ExecContext(ctx, query, args...)
		errs = append(errs, err)
	}
	exec("INSERT INTO mysql.time_zone (Time_zone_id, Use_leap_seconds) VALUES (?, 'N')", id)
	for at := from; at.Year() < 2038; {
		name, offset := at.Zone()
		kind, known := kinds[name+fmt.Sprint(offset)]
		if !known {
			kind = len(kinds)
			kinds[name+fmt.Sprint(offset)] = kind
			exec("INSERT INTO mysql.time_zone_transition_type (Time_zone_id, Transition_type_id, `Offset`, Is_DST, Abbreviation) VALUES (?, ?, ?, ?, ?)", id, kind, offset, at.IsDST(), name)
		}
		exec("INSERT INTO mysql.time_zone_transition (Time_zone_id, Transition_time, Transition_type_id) VALUES (?, ?, ?)", id, at.Unix(), kind)
		_, end := at.ZoneBounds()
		if end.IsZero() {
			break
		}
		at = end
	}
	exec("INSERT INTO mysql.time_zone_name (Name, Time_zone_id) VALUES (?, ?)", zone.String(), id)
	return errors.Join(errs...)
}
