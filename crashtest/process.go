package crashtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// phase is what the scheduler knows of a process.
type phase int

const (
	computing phase = iota // between two statements, or before the first
	parked                 // holds a statement that it has not been allowed to send
	executing              // its statement is on the server
	waiting                // the server says that its session waits for a lock
	idle                   // neither ended nor came with a statement for idleLimit
	ended                  // the call returned
	stopped                // abandoned: it stands still for ever
)

// process runs one copy of the workflow on a lane of its own, in a goroutine of its own. Its statements wait
// in intercept until the scheduler lets them go. All but the last group of fields belongs to the scheduler's
// goroutine.
type process struct {
	copy  int
	lane  *lane
	phase phase
	// queue holds the statements that it wants to send, in order: one, unless the workflow or database/sql
	// (the rollback of a cancelled transaction) uses several goroutines. current is on the server.
	queue   []*request
	current *request
	row     int // of the trace, of current
	steps   int
	since   time.Time // when the phase began
	seen    int       // how often in a row the server said that it waits, since the last step of anybody
	named   bool      // it waits for a metadata or named lock, of which the server's word may be old
	answers []error
	broken  error // it could not be followed to its end

	gone   chan struct{} // closed when nothing is sent any more
	skip   atomic.Pointer[string]
	events chan<- func()
	cancel context.CancelFunc
	over   chan struct{} // closed when its goroutine ends
}

// request is a statement that waits for its turn, which comes when turn is closed.
type request struct {
	*execution
	turn chan struct{}
}

// errStopped is the answer to every statement of a process that was abandoned, once nobody looks at it any
// more.
var errStopped = errors.New("crashtest: this process has stopped")

// maxIdle lets the session of a process that stopped stay in its pool: one too many would be closed, and its
// locks freed.
const maxIdle = 32

// lane is a connector with its pool, on which a process runs. It outlives the process, so that sessions are
// opened once.
type lane struct {
	connector *Connector
	db        *sql.DB
}

func newLane(w Workflow, inner driver.Connector) *lane {
	l := &lane{connector: &Connector{inner: inner, identify: true}}
	if w.Wrap != nil {
		l.db = sql.OpenDB(w.Wrap(l.connector))
	} else {
		l.db = sql.OpenDB(l.connector)
	}
	l.db.SetMaxIdleConns(maxIdle)
	return l
}

// start has a process run calls until one needs no other, at most limit.
func (s *stepper) start(l *lane, copyIndex, limit int, call func(context.Context, *sql.DB) error, again func(error) bool) *process {
	ctx, cancel := context.WithCancel(s.ctx)
	p := &process{copy: copyIndex, lane: l, events: s.events, cancel: cancel, gone: make(chan struct{}), over: make(chan struct{}), since: time.Now()}
	l.connector.refuse(nil)
	l.connector.intercept(func(ctx context.Context, e *execution) error { return s.park(ctx, p, e) })
	go func() {
		defer close(p.over)
		var answers []error
		broken := errors.New("the call ended its goroutine (t.Fatal is for the test's own)")
		defer func() { p.tell(func() { s.ended(p, answers, broken) }) }()
		answers, broken = p.live(ctx, limit, call, again)
	}()
	return p
}

func (p *process) live(ctx context.Context, limit int, call func(context.Context, *sql.DB) error, again func(error) bool) (answers []error, broken error) {
	for range limit {
		err := call(ctx, p.lane.db)
		answers = append(answers, err)
		if p.isGone() {
			break
		}
		if hanging := settle(p.lane.db); hanging != nil {
			return answers, fmt.Errorf("%w: %w", errHung, hanging)
		}
		if err == nil || !again(err) {
			break
		}
	}
	return answers, nil
}

func (p *process) isGone() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// tell has the scheduler do something, unless it listens no more.
func (p *process) tell(event func()) {
	select {
	case p.events <- event:
	case <-p.gone:
	}
}

// park holds a statement of a process until its turn. A statement that the driver wants prepared first
// (ErrSkip) comes a second time, and goes on as the same step.
func (s *stepper) park(ctx context.Context, p *process, e *execution) error {
	if p.isGone() {
		return errStopped
	}
	skipped := p.skip.Swap(nil)
	if skipped == nil || !e.Prepared || e.SQL != *skipped {
		if skipped != nil {
			p.tell(func() { s.returned(p, errors.New("the statement could not be prepared")) })
		}
		r := &request{e, make(chan struct{})}
		p.tell(func() { s.arrived(p, r) })
		select {
		case <-r.turn:
		case <-p.gone:
			return errStopped
		}
	} else {
		p.tell(func() { s.trace.rows[p.row].execution = e })
	}
	err := e.run(ctx)
	if errors.Is(err, driver.ErrSkip) {
		p.skip.Store(&e.SQL)
		return err
	}
	p.tell(func() { s.returned(p, err) })
	return err
}

// release ends a process: it sends nothing any more, whatever it still wants is answered with an error, and
// its goroutine is waited for. Its sessions stay as they are, in the pool or not, with their transactions and
// locks.
func (p *process) release() error {
	defer p.cancel()
	p.lane.connector.refuse(errStopped)
	close(p.gone)
	select {
	case <-p.over:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("the call did not return within %s of the end of its process: does it wait, through another handle than its own, for what that process has locked? "+
			"Then leave Abandoned out (Without)", patience)
	}
}
