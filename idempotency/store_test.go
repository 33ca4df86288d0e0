package idempotency_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// memory is a log that can be read.
type memory struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (m *memory) Write(p []byte) (int, error) { m.mu.Lock(); defer m.mu.Unlock(); return m.b.Write(p) }
func (m *memory) String() string              { m.mu.Lock(); defer m.mu.Unlock(); return m.b.String() }
func (m *memory) logger() *slog.Logger        { return slog.New(slog.NewTextHandler(m, nil)) }

// blobs keeps large results in a table.
type blobs struct{}

func (blobs) Store(ctx context.Context, db onerow.DB, key idempotency.Key, data []byte) (string, error) {
	_, err := db.ExecContext(ctx, "REPLACE INTO blob_store (name, data) VALUES (?, ?)", key.String(), data)
	return key.String(), err
}

func (blobs) Load(ctx context.Context, db onerow.DB, ref string) (data []byte, err error) {
	err = onerow.QueryRow(ctx, db, "SELECT data FROM blob_store WHERE name = ?", []any{ref}, &data)
	return data, err
}

func TestCodec(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	must(idempotency.Do(ctx, db, keys, key("old"), charge(3)))
	if _, err := idempotency.Do(ctx, db, keys, key("chan"), func(context.Context, *onerow.Tx) (chan int, error) { return make(chan int), nil }); !errors.Is(err, idempotency.ErrCodec) {
		t.Errorf("a channel: %v", err)
	}
	if _, err := idempotency.Do(ctx, db, keys, key("old"), func(context.Context, *onerow.Tx) (int, error) { return 0, nil }); !errors.Is(err, idempotency.ErrCodec) {
		t.Errorf("another type: %v", err)
	}
}

// TestSize: what is too large is refused or stored elsewhere, never cut.
func TestSize(t *testing.T) {
	eachLevel(t, func(t *testing.T, db *sql.DB) {
		dbtest.Exec(t, db, "CREATE TABLE IF NOT EXISTS blob_store (name VARCHAR(300) PRIMARY KEY, data LONGBLOB NOT NULL)")
		dbtest.Exec(t, db, "DELETE FROM blob_store")
		ctx := t.Context()
		sized := func(n int) func(context.Context, *onerow.Tx) (string, error) {
			return func(ctx context.Context, tx *onerow.Tx) (string, error) {
				_, err := charge(1)(ctx, tx)
				return strings.Repeat("x", n), err
			}
		}
		refusing := newKeys(t, idempotency.Config{MaxResult: 100})
		_, err := idempotency.Do(ctx, db, refusing, key("a"), sized(99))
		var large *idempotency.Error
		if !errors.As(err, &large) || !errors.Is(err, idempotency.ErrTooLarge) || !strings.Contains(err.Error(), "has 101 bytes, 100 are stored") {
			t.Fatalf("too large: %v", err)
		}
		if n := charges(t, db); n != 0 {
			t.Fatalf("%d charges after a result that was refused", n)
		}
		must(idempotency.Do(ctx, db, refusing, key("a"), sized(98)))
		referring := newKeys(t, idempotency.Config{MaxResult: 100, References: blobs{}})
		for _, n := range []int{98, 99, 300000} {
			id := key(fmt.Sprint(n))
			must(idempotency.Do(ctx, db, referring, id, sized(n)))
			for _, by := range []*idempotency.Keys{referring, newKeys(t, idempotency.Config{MaxResult: 100, References: blobs{}})} {
				if out := must(idempotency.Do(ctx, db, by, id, sized(0))); len(out.Row) != n || !out.Replayed {
					t.Errorf("%d bytes: %d", n, len(out.Row))
				}
			}
		}
		if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM blob_store"); n != 2 {
			t.Errorf("%d references", n)
		}
	})
}

func TestLongError(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	long := strings.Repeat("é", 40000)
	_, err := idempotency.Do(ctx, db, keys, key("a"), func(context.Context, *onerow.Tx) (int, error) {
		return 0, idempotency.Permanent(errors.New(long))
	})
	if !errors.Is(err, idempotency.ErrFailed) {
		t.Fatal(err)
	}
	if e := must(keyadmin.Find(ctx, db, key("a"))); !strings.HasSuffix(e.Error, "… (cut, it had 80000 bytes)") {
		t.Errorf("%d bytes: …%s", len(e.Error), e.Error[len(e.Error)-60:])
	}
}

func TestConfig(t *testing.T) {
	db, _ := open(t)
	for _, cfg := range []idempotency.Config{{Keep: -1}, {Expected: -1}, {MaxResult: -1}, {MaxResult: 16 << 20}} {
		if _, err := idempotency.New(cfg); !errors.Is(err, idempotency.ErrInvalid) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	for _, o := range []idempotency.Options{{Keep: -1}, {Lease: time.Second}, {Expected: time.Second}, {Attention: true}, {Result: 1}} {
		if _, err := idempotency.Do(ctx, db, keys, key("a"), charge(1), o); !errors.Is(err, idempotency.ErrInvalid) {
			t.Errorf("Do took an option that it has no use for: %v", err)
		}
	}
	if _, _, err := idempotency.Begin[int](ctx, db, keys, key("a"), idempotency.Options{Keep: 1}); !errors.Is(err, idempotency.ErrInvalid) {
		t.Errorf("Begin took Keep: %v", err)
	}
	if _, err := idempotency.Do(ctx, db, keys, key("a"), charge(1), idempotency.Options{Keep: 1}, idempotency.Options{Payload: 1}); !errors.Is(err, idempotency.ErrInvalid) {
		t.Errorf("Do took two Options: %v", err)
	}
}

func TestAdmit(t *testing.T) {
	eachLevel(t, func(t *testing.T, db *sql.DB) {
		keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
		var wg sync.WaitGroup
		var mu sync.Mutex
		admitted := 0
		for range 32 {
			wg.Go(func() {
				a, err := keys.Admit(ctx, db, key("a"), time.Hour)
				if err != nil || !a.Admitted && (a.RetryAfter <= 59*time.Minute || a.RetryAfter > time.Hour) {
					t.Errorf("%+v, %v", a, err)
				}
				mu.Lock()
				defer mu.Unlock()
				if a.Admitted {
					admitted++
				}
			})
		}
		wg.Wait()
		if admitted != 1 {
			t.Errorf("%d of 32 were admitted", admitted)
		}
		dbtest.Exec(t, db, "UPDATE onerow_admission SET until_at = UTC_TIMESTAMP(6)")
		for _, want := range []bool{true, false} {
			if a := must(keys.Admit(ctx, db, key("a"), time.Hour)); a.Admitted != want {
				t.Errorf("after the window: %+v", a)
			}
		}
		if _, err := keys.Admit(ctx, db, key("a"), 0); !errors.Is(err, idempotency.ErrInvalid) {
			t.Errorf("no window: %v", err)
		}
	})
}

// TestAdmitBehindASnapshot: a transaction whose snapshot is older than somebody's admission is refused.
func TestAdmitBehindASnapshot(t *testing.T) {
	eachStale(t, func(t *testing.T, db *sql.DB) {
		keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
		err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			dbtest.Scan[int](t, tx, "SELECT COUNT(*) FROM onerow_admission")
			must(keys.Admit(ctx, db, key("a"), time.Hour))
			a, err := keys.Admit(ctx, tx, key("a"), time.Hour)
			if a.Admitted || a.RetryAfter <= 59*time.Minute {
				t.Errorf("%+v", a)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestPurge(t *testing.T) {
	eachLevel(t, func(t *testing.T, db *sql.DB) {
		counts := &counter{}
		keys, ctx := newKeys(t, idempotency.Config{Metrics: counts}), t.Context()
		tx := must(db.BeginTx(ctx, nil))
		for i := range 250 {
			must(idempotency.Do(ctx, tx, keys, key(fmt.Sprint("old", i)), charge(1), idempotency.Options{Keep: time.Microsecond}))
			must(idempotency.Do(ctx, tx, keys, key(fmt.Sprint("new", i)), charge(1), idempotency.Options{Keep: time.Hour}))
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		begun(t, db, keys, key("running"), idempotency.Options{Lease: time.Microsecond})
		must(keys.Admit(ctx, db, key("gone"), time.Microsecond))
		must(keys.Admit(ctx, db, key("stays"), time.Hour))
		if n, err := keyadmin.Purge(ctx, db, keys, 220); n != 220 || err != nil {
			t.Fatalf("purged %d, %v", n, err)
		}
		if n, err := keyadmin.Purge(ctx, db, keys, 300); n != 31 || err != nil {
			t.Fatalf("purged %d, %v", n, err)
		}
		if n, err := keyadmin.Purge(ctx, db, keys, 300); n != 0 || err != nil {
			t.Fatalf("purged %d, %v", n, err)
		}
		if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_key"); n != 251 {
			t.Errorf("%d keys stay", n)
		}
		if n := counts.of("purged"); n != 251 {
			t.Errorf("counted %d", n)
		}
	})
}

// TestServerSize: a result that fits MaxResult and, once it is escaped, not the server's packet is told as
// too large, and as nothing else, and its work is not done 20 times. A server with a limit that is large
// enough takes it.
func TestServerSize(t *testing.T) {
	db, _ := open(t, dbtest.Param("maxAllowedPacket", "268435456"))
	ctx := t.Context()
	var limit int
	if err := onerow.QueryRow(ctx, db, "SELECT @@max_allowed_packet", nil, &limit); err != nil {
		t.Fatal(err)
	}
	keys, err := idempotency.New(idempotency.Config{MaxResult: 15 << 20})
	if err != nil {
		t.Fatal(err)
	}
	wantServerSize := func(what string, err error) {
		t.Helper()
		if limit > 31<<20 {
			if err != nil {
				t.Errorf("%s: %.300v", what, err)
			}
			return
		}
		var large *idempotency.Error
		if !errors.As(err, &large) || !errors.Is(err, onerow.ErrTooLarge) || !strings.Contains(err.Error(), strconv.Itoa(limit)) || len(err.Error()) > 1000 ||
			errors.Is(err, onerow.ErrOutcomeUnknown) {
			t.Errorf("%s: %.300v", what, err)
		}
	}
	result, runs := strings.Repeat(`"`, 7<<20), 0 // each is four bytes: once escaped for JSON, and both for SQL
	for what, verdict := range map[string]error{"done": nil, "undone": idempotency.ErrUndone} {
		runs = 0
		_, err := idempotency.Do(ctx, db, keys, idempotency.Key{Operation: "size", ID: what}, func(context.Context, *onerow.Tx) (string, error) {
			runs++
			return result, verdict
		})
		wantServerSize(what, err)
		if runs > 2 {
			t.Errorf("%s: %d runs", what, runs)
		}
	}
	claim, _, err := idempotency.Begin[string](ctx, db, keys, idempotency.Key{Operation: "size", ID: "two steps"})
	if err != nil {
		t.Fatal(err)
	}
	err = keys.Complete(ctx, db, claim, result)
	for range 3 { // a slow machine escapes and sends so much twice in more time than there is for it
		if errors.Is(err, idempotency.ErrCompletionLost) {
			err = keys.Complete(ctx, db, claim, result)
		}
	}
	wantServerSize("Complete", err)
	if err := keys.Complete(ctx, db, claim, "less"); limit <= 31<<20 && err != nil {
		t.Errorf("then with less: %v", err)
	}
}
