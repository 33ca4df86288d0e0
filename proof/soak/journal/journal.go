package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Op is what a client does.
type Op string

// The operations.
const (
	Create   Op = "create"
	Rename   Op = "rename"
	Update   Op = "update"
	Archive  Op = "archive"
	Activate Op = "activate"
	Delete   Op = "delete"
	Cancel   Op = "cancel delete"
	SetLimit Op = "set limit"
	Do       Op = "key, one commit"
	Begin    Op = "key, begin"
	Complete Op = "key, complete"
	Claim    Op = "claim serials"
	Apply    Op = "apply message"
)

// Ops are all operations.
var Ops = []Op{Create, Rename, Update, Archive, Activate, Delete, Cancel, SetLimit, Do, Begin, Complete, Claim, Apply}

// Result is what became of a call, as its caller knows it.
type Result string

// The results.
const (
	OK      Result = "ok"
	Refused Result = "refused" // answered by a rule: it has not been done
	Failed  Result = "failed"  // an error that says that it has not been done
	Unknown Result = "unknown" // it was done once or not at all
)

// Never is the end of what may still happen.
const Never = math.MaxInt64

// Entry is one call. Which fields are used depends on the operation.
type Entry struct {
	Seq      int64  `json:"n"`
	Op       Op     `json:"op"`
	Resource string `json:"res,omitempty"`
	Owner    int64  `json:"owner,omitempty"`
	ID       int64  `json:"id,omitempty"`
	// Key is a request id, an idempotency key, a claim key or a message.
	Key string `json:"key,omitempty"`
	// Value is a name, a stored result, a range.
	Value string `json:"val,omitempty"`
	// Number is a token, a limit, an amount.
	Number int64 `json:"num,omitempty"`
	// Changed is what the verb says; of a key that is begun: it was taken over.
	Changed bool `json:"chg,omitempty"`
	Grace   bool `json:"grace,omitempty"`
	// Maybe says that an attempt of the call ended unknown, whatever the last one answered.
	Maybe bool `json:"maybe,omitempty"`
	// Start and End are nanoseconds since 1970; End is Never where nobody knows.
	Start  int64  `json:"t0"`
	End    int64  `json:"t1,omitempty"`
	Result Result `json:"r,omitempty"`
	Error  string `json:"err,omitempty"`
}

// Happened says whether the call may have had its effect.
func (e Entry) Happened() bool { return e.Result == OK || e.Result == Unknown || e.Maybe }

// fresh is how long before the death of a server a commit may be seen and not be on the disk yet.
const fresh = time.Second

// Replayed says whether the call was answered with what an earlier one had done, and so has committed nothing
// itself.
func (e Entry) Replayed() bool {
	return e.Result == OK && !e.Changed && (e.Op != Begin || e.Number == 0) && e.Op != Complete && e.Op != SetLimit
}

// Forget makes answers unknown that were read off a server just before it was killed. InnoDB shows a commit
// to others before its log is on the disk, unless a binary log is, and the private server has none. So who
// was told of the work of another may have been told of what was lost; who did the work was not told yet.
// Entries that have committed something themselves are acknowledged for good.
func Forget(entries []Entry, kills []time.Time) []Entry {
	entries = slices.Clone(entries)
	for i := range entries {
		e := &entries[i]
		for _, kill := range kills {
			if before := kill.UnixNano() - e.End; e.Replayed() && before > -int64(fresh) && before < int64(fresh) {
				e.Result, e.End = Unknown, Never
				break
			}
		}
	}
	return entries
}

// Writer writes the journal of one process. Its methods may be called from several goroutines.
type Writer struct {
	mu   sync.Mutex
	file *os.File
	seq  atomic.Int64
}

// NewWriter makes a journal. The file must not exist.
func NewWriter(path string) (*Writer, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // in the soak's own folder
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return &Writer{file: file}, nil
}

// Begin writes what is about to be done and returns the entry for End.
func (w *Writer) Begin(e Entry) (Entry, error) {
	e.Seq, e.Start = w.seq.Add(1), time.Now().UnixNano()
	return e, w.write(e)
}

// End writes what became of it.
func (w *Writer) End(e Entry) error {
	e.End = time.Now().UnixNano()
	if e.Result == Unknown {
		e.End = Never
	}
	return w.write(e)
}

func (w *Writer) write(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// Close closes the file.
func (w *Writer) Close() error { return w.file.Close() }

// Read reads all journals in a folder, in the order of their starts. Of a call without a second line the
// result is Unknown.
func Read(dir string) ([]Entry, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.journal"))
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	var all []Entry
	for _, path := range paths {
		entries, err := readFile(path)
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	slices.SortFunc(all, func(a, b Entry) int {
		switch {
		case a.Start < b.Start:
			return -1
		case a.Start > b.Start:
			return 1
		}
		return 0
	})
	return all, nil
}

func readFile(path string) (_ []Entry, err error) {
	file, err := os.Open(path) //nolint:gosec // in the soak's own folder
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var entries []Entry
	place := map[int64]int{}
	lines := bufio.NewReaderSize(file, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return entries, nil // what has no end of line was being written when the process was killed
		}
		if err != nil {
			return nil, fmt.Errorf("journal: %s: %w", path, err)
		}
		var e Entry
		if err := json.Unmarshal(bytes.TrimSpace(line), &e); err != nil {
			return nil, fmt.Errorf("journal: %s: %q: %w", path, line, err)
		}
		if e.Result == "" {
			e.Result, e.End = Unknown, Never
		}
		if i, begun := place[e.Seq]; begun {
			entries[i] = e
			continue
		}
		place[e.Seq] = len(entries)
		entries = append(entries, e)
	}
}
