package cascade

import (
	"errors"
	"slices"
	"sync"

	"github.com/onerow/onerow/internal/settings"
)

// turnError is a state of the server that has ended a job's turn. The next job may fare better.
type turnError struct{ error }

func (e *turnError) Unwrap() error { return e.error }

// readOnly says whether err is pool.Check's of a server that takes no writes, which a job would meet as a
// state of the server, see [queue.IsServerState].
func readOnly(err error) bool {
	var setting *settings.SettingError
	return errors.As(err, &setting) && slices.Contains([]string{"read_only", "super_read_only", "innodb_read_only", "transaction_read_only", "tx_read_only"}, setting.Setting)
}

// maxSetbacks is how many jobs are remembered. With more in trouble it is the server that is: all counts
// begin anew.
const maxSetbacks = 1000

// setbacks counts, for all goroutines of a worker, how often in a row the server has refused a job for a
// state of its own. They are no failures and not in the job's row: they only say how long it rests.
type setbacks struct {
	mu sync.Mutex
	of map[int64]int // by the job's id
}

// another counts one, and returns how many there were in a row.
func (s *setbacks) another(job int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil || s.of[job] == 0 && len(s.of) >= maxSetbacks {
		s.of = map[int64]int{}
	}
	s.of[job]++
	return s.of[job]
}

// end is told that a batch of the job has deleted something, or that something else came of its turn.
func (s *setbacks) end(job int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, job)
}
