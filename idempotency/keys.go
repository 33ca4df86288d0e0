package idempotency

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/trace"
)

// MaxKey is the length in bytes that each part of a [Key] may have.
const MaxKey = 255

// Key names a piece of work. Its parts are compared byte by byte: case counts, so do trailing spaces.
type Key struct {
	// Tenant is whose key it is, so that tenants cannot meet. May be empty.
	Tenant string `json:"tenant"`
	// Operation is what is done, as in "charge". 1 to MaxKey bytes. It is a label of
	// the metrics, so there should not be many.
	Operation string `json:"operation"`
	// ID is the key that the caller chose, or [KeyOf] a message. 1 to MaxKey bytes.
	ID string `json:"id"`
}

// String shows the key in messages.
func (k Key) String() string { return fmt.Sprintf("%q/%q/%q", k.Tenant, k.Operation, k.ID) }

// Check answers [ErrInvalid] for a key that has an empty or too long part. Nothing is cut.
func (k Key) Check() error {
	switch {
	case k.Operation == "" || k.ID == "":
		return fmt.Errorf("%w: %s needs an operation and an id", ErrInvalid, k)
	case len(k.Tenant) > MaxKey || len(k.Operation) > MaxKey || len(k.ID) > MaxKey:
		return fmt.Errorf("%w: tenant, operation and id have %d, %d and %d bytes, %d fit; make a long id short with KeyOf",
			ErrInvalid, len(k.Tenant), len(k.Operation), len(k.ID), MaxKey)
	}
	return nil
}

// args are the three columns, as bytes: text would pass through the connection's character set.
func (k Key) args(more ...any) []any {
	return append([]any{[]byte(k.Tenant), []byte(k.Operation), []byte(k.ID)}, more...)
}

// References stores results that are larger than Config.MaxResult somewhere else.
type References interface {
	// Store keeps data and returns what Load needs to find it, at most 1,024 bytes. In Do, db is the
	// transaction that commits the key. It may be called again after a failure.
	Store(ctx context.Context, db onerow.DB, key Key, data []byte) (ref string, err error)
	// Load returns what Store kept.
	Load(ctx context.Context, db onerow.DB, ref string) ([]byte, error)
}

// Config is how keys are kept. The zero value is valid.
type Config struct {
	// Keep is how long a finished key answers, and a released one keeps its payload; then it is as if it had
	// never been, and Purge may remove it. Default 0: for ever, unless an operator expires the key.
	Keep time.Duration
	// Expected is how long a key may be in progress before it counts as overdue. It
	// only alarms. Default 1 minute.
	Expected time.Duration
	// MaxResult is the size in bytes up to which an encoded result is stored in the
	// row. What is larger goes to References, or is refused with [ErrTooLarge] if there
	// are none. Default 1 MiB, at most 15 MiB (and the server's max_allowed_packet).
	MaxResult int
	// References takes the larger results. Default: none.
	References References
	// Name is shown as the holder of this process's claims. Default: host name and process id.
	Name string
	// Log gets a line with each outcome, before it is written. Default: nothing.
	Log *slog.Logger
	// Metrics gets counts and gauges. Default: nothing.
	Metrics Metrics
}

const (
	defaultExpected  = time.Minute
	defaultMaxResult = 1 << 20
	largestResult    = 15 << 20
	longestName      = 200
	longestReference = 1024
)

// Keys is a [Config] that was checked. It may be used from many goroutines. It remembers some of the keys
// that it saw end, to answer those who come again faster; no promise depends on that. In a crash test, make
// it anew in each call, as a process that starts does.
type Keys struct {
	cfg   Config
	ended ended
}

// New checks the configuration. It sends nothing. The tables are those of package migrations.
func New(cfg Config) (*Keys, error) {
	cfg.Expected, cfg.MaxResult = cmp.Or(cfg.Expected, defaultExpected), cmp.Or(cfg.MaxResult, defaultMaxResult)
	if cfg.Keep < 0 || cfg.Expected < 0 || cfg.MaxResult < 0 || cfg.MaxResult > largestResult {
		return nil, fmt.Errorf("%w: Keep is %s, Expected %s, MaxResult %d", ErrInvalid, cfg.Keep, cfg.Expected, cfg.MaxResult)
	}
	cfg.Name = dbtext.Fit(cmp.Or(cfg.Name, dbtext.Process()), longestName)
	cfg.Log = trace.Log(cmp.Or(cfg.Log, slog.New(slog.DiscardHandler)))
	if cfg.Metrics == nil {
		cfg.Metrics = discard{}
	}
	return &Keys{cfg: cfg, ended: ended{seed: maphash.MakeSeed()}}, nil
}

// Config returns how the keys are kept, with the defaults.
func (k *Keys) Config() Config { return k.cfg }
