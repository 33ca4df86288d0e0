package cascade

import "sync"

// mostSetbacks is how many jobs are remembered. With more in trouble it is the server that is: all counts
// begin anew.
const mostSetbacks = 1000

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
	if s.of == nil || s.of[job] == 0 && len(s.of) >= mostSetbacks {
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
