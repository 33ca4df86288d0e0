package page

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"
)

const (
	signedIn   = 12 * time.Hour
	maxSignIns = 1000 // the oldest one ends
)

// sessions are those who have signed in at this process. Who signs out is out, whoever has kept the cookie;
// when the process ends everybody is, and another process knows nobody of this one's.
type sessions struct {
	cookie string // its name; each worker of a machine has its own
	mu     sync.Mutex
	of     map[[sha256.Size]byte]signIn // by the hash of the cookie's value: a look-up tells nothing of it
}

type signIn struct {
	caller
	until time.Time
}

func newSessions(worker string) *sessions {
	sum := sha256.Sum256([]byte(worker))
	return &sessions{cookie: "onerow_worker_" + hex.EncodeToString(sum[:4]), of: map[[sha256.Size]byte]signIn{}}
}

// begin signs somebody in and returns the cookie's value, which nobody can guess.
func (s *sessions) begin(c caller) string {
	id, until := rand.Text(), time.Now().Add(signedIn)
	s.mu.Lock()
	defer s.mu.Unlock()
	var oldest [sha256.Size]byte
	for key, in := range s.of {
		if !time.Now().Before(in.until) {
			delete(s.of, key)
		} else if first, found := s.of[oldest]; !found || in.until.Before(first.until) {
			oldest = key
		}
	}
	if len(s.of) >= maxSignIns {
		delete(s.of, oldest)
	}
	s.of[sha256.Sum256([]byte(id))] = signIn{c, until}
	return id
}

func (s *sessions) who(id string) (c caller, in bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, in := s.of[sha256.Sum256([]byte(id))]
	found.out = true
	return found.caller, in && time.Now().Before(found.until)
}

func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, sha256.Sum256([]byte(id)))
}

// wrongTokens has answers to wrong tokens wait, the longer the more there were of late: one after another
// about one in a second, beside each other each for maxWait. A right token waits for nothing, however
// many wrong ones do; an answer that waits holds up its own connection alone.
type wrongTokens struct {
	mu sync.Mutex
	n  float64 // those of late: one is forgotten each second
	at time.Time
}

const (
	minWait = 250 * time.Millisecond
	maxWait = 5 * time.Second
)

func (g *wrongTokens) wait(ctx context.Context) {
	timer := time.NewTimer(g.next(time.Now()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (g *wrongTokens) next(now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n = max(0, g.n-now.Sub(g.at).Seconds()) + 1
	g.at = now
	return time.Duration(min(g.n*float64(minWait), float64(maxWait)))
}
