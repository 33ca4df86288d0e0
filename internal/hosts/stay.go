package hosts

import (
	"time"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// Stay is a session's time at a host, and what is known of the session. Its zero value is that of a session
// of which nothing is.
type Stay struct {
	Peer  Peer
	Takes Packets

	host *host // nil: the pool has only one
	era  int64
}

// Packets says what a session takes.
type Packets int8

// A session takes one of these.
const (
	OnePacketEach Packets = iota
	Together              // several statements, which only the guard sends
	AsTheNameSays         // several statements, for the data source name asks for that
)

// Over says whether all sessions of that time were given up.
func (s Stay) Over() bool { return s.host != nil && s.host.era.Load() != s.era }

// Met looks at an error of the session. A server that takes no writes is left out, with all sessions to it.
// Where a session was lost without a word from the server, a timeout perhaps, they are given up as well, and
// the next connection finds out whether it is there.
func (s Stay) Met(err error) {
	if s.host == nil || err == nil || s.Over() {
		return
	}
	switch class := mysqlerr.Classify(err); {
	case class == mysqlerr.NotHere:
		s.host.leave(time.Now().Add(leftOut))
	case class != mysqlerr.ConnectionLost || mysqlerr.Number(err) != 0:
		return
	}
	s.host.era.CompareAndSwap(s.era, s.era+1)
}
