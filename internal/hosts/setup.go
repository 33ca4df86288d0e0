package hosts

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/wire"
)

// SetAutocommit with SetIsolation begins each set-up; [ReadCommitted], for tests and proofs, sends nothing
// else. It is one statement for both engines: MariaDB before 11.1 knows only tx_isolation, MySQL only
// transaction_isolation, and either reads what is in its own kind of comment. Where those comments are not
// understood, by a proxy or by a later engine, it takes two.
const (
	SetAutocommit    = `SET SESSION autocommit = 1`
	SetIsolation     = `, SESSION /*!50701 transaction_isolation */ /*M! tx_isolation */ = 'READ-COMMITTED'`
	SetReadCommitted = `SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`
)

// ReadCommitted wraps a connector so that each new connection starts in autocommit at READ COMMITTED. It is a
// statement and not a setting of the data source name, because the variable's name differs between the
// engines. One statement per connection.
func ReadCommitted(c driver.Connector) *Hosts {
	texts := [][]string{{SetAutocommit + SetIsolation}, {SetReadCommitted, SetAutocommit}}
	return &Hosts{list: []*host{{driver: c, setUp: &setUp{SetUp: SetUp{Texts: texts}, anonymous: true}}}}
}

// SetUp is how each new session of a pool is set up.
type SetUp struct {
	// Texts are alternatives, each a list of statements, tried in order until the server takes one.
	Texts [][]string
	// Probes says to try whether several statements may be sent at once, which a proxy may refuse.
	Probes bool
	// Named says that the data source name asks for several statements at once.
	Named bool
}

// setUp sets up the sessions of one server, and remembers which of the ways it understands. So a server
// without the variables of a cluster pays for that once and not with each connection.
type setUp struct {
	SetUp
	anonymous bool // what the server calls a session is not asked
	from      atomic.Int32
	probed    int32        // the first so many are several statements at once
	torn      atomic.Int32 // a wire.Answer: a packet may be torn apart by another node's transaction
}

// perHost is for one server. Whether it takes several statements at once is found out by the first ways.
func (u SetUp) perHost() *setUp {
	s := &setUp{SetUp: u}
	if u.Probes {
		s.Texts, s.probed = nil, int32(len(u.Texts)) //nolint:gosec // there are three
		for _, way := range u.Texts {
			last := len(way) - 1
			s.Texts = append(s.Texts, append(slices.Clone(way[:last]), way[last]+"; "+askPeer))
		}
		s.Texts = append(s.Texts, u.Texts...)
	}
	return s
}

// askGalera is asked where several statements are taken. A node of Galera that aborts a transaction for
// another node's may run the rest of its packet outside of it, and answer that all was committed. A server
// that does not have the variable has no Galera. It reads no table of the application's.
const askGalera = `/*M! SELECT @@wsrep_on */ /*!50701 SELECT COUNT(*) FROM performance_schema.global_variables WHERE VARIABLE_NAME = 'wsrep_on' AND VARIABLE_VALUE = 'ON' */`

const erUnknownVariable = 1193

// takes says what a session takes that was set up. Where that is several statements, the server is asked
// once.
func (s *setUp) takes(ctx context.Context, conn session) (takes Packets, err error) {
	switch {
	case s.Named:
		takes = AsTheNameSays
	case s.from.Load() < s.probed:
		takes = Together
	default:
		return OnePacketEach, nil
	}
	torn := wire.Answer(s.torn.Load()) //nolint:gosec // one of three
	if torn == wire.NotAsked {
		on, err := IsOn(ctx, conn, askGalera)
		if err != nil && mysqlerr.Number(err) != erUnknownVariable {
			return takes, fmt.Errorf("onerow: set up a connection: %w", err)
		}
		if torn = wire.No; on {
			torn = wire.Yes
		}
		s.torn.Store(int32(torn))
	}
	if torn == wire.Yes {
		return OnePacketEach, nil
	}
	return takes, nil
}

// do sets a session up, and says what the server calls it.
func (s *setUp) do(ctx context.Context, conn session) (as Peer, err error) {
	for i := s.from.Load(); int(i) < len(s.Texts); i++ {
		way, probes := s.Texts[i], i < s.probed
		for j, text := range way {
			if probes && j == len(way)-1 {
				as, err = peerOf(ctx, conn, text)
			} else {
				_, err = conn.ExecContext(ctx, text, nil)
			}
			if err != nil {
				break
			}
		}
		if err == nil {
			s.from.Store(i)
			if !probes && !s.anonymous {
				as, _ = peerOf(ctx, conn, askPeer) //nolint:errcheck // then it is not killed where its caller leaves it
			}
			return as, nil
		}
		answered := mysqlerr.Number(err) != 0 || errors.Is(err, errOddAnswer)
		if !answered || mysqlerr.MayRunAgain(err) {
			break
		}
	}
	return as, fmt.Errorf("onerow: set up a connection: %w", err)
}
