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

// The statements of [ReadCommitted], which all others begin with. One for both engines: MariaDB before 11.1
// knows only tx_isolation, MySQL only transaction_isolation. Either reads what is in its own kind of comment.
// Where those comments are not understood, by a proxy or by a later engine, it takes two.
const (
	SetAutocommit    = `SET SESSION autocommit = 1`
	SetIsolation     = `, SESSION /*!50701 transaction_isolation */ /*M! tx_isolation */ = 'READ-COMMITTED'`
	SetReadCommitted = `SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`
)

// ReadCommitted wraps a connector so that each new connection starts in autocommit at READ
// COMMITTED. It is a statement and not a setting of the data source name, because
// the variable's name differs between the engines. One statement per connection.
func ReadCommitted(c driver.Connector) Opener {
	return one{c, &setUp{texts: [][]string{{SetAutocommit + SetIsolation}, {SetReadCommitted, SetAutocommit}}}}
}

// SetUp is how each new session of a pool is set up.
type SetUp struct {
	// Texts are the statements, in the ways in which it can be done: what a server may not understand comes
	// first.
	Texts [][]string
	// Probes has it found out whether several statements may be sent at once, which a proxy may refuse.
	Probes bool
	// Named says that the data source name asks for several statements at once.
	Named bool
}

// of is for one server.
func (u SetUp) of() *setUp {
	s := &setUp{texts: u.Texts, known: true, named: u.Named}
	if u.Probes {
		return s.probe()
	}
	return s
}

// setUp has the ways to set up a session of one server, and remembers which of them it understands. So a
// server without the variables of a cluster pays for that once and not with each connection.
type setUp struct {
	texts  [][]string
	from   atomic.Int32
	probed int32        // the first so many are several statements at once
	known  bool         // what the server calls a session is asked
	named  bool         // the data source name asks for several statements at once
	torn   atomic.Int32 // a wire.Answer: a packet may be torn apart by another node's transaction
}

// askGalera is asked where several statements are taken. A node of Galera that aborts a transaction for
// another node's may run the rest of its packet outside of it, and answer that all was committed. A server
// that does not have the variable has no Galera. It reads no table of the application's.
const askGalera = `/*M! SELECT @@wsrep_on */ /*!50701 SELECT COUNT(*) FROM performance_schema.global_variables WHERE VARIABLE_NAME = 'wsrep_on' AND VARIABLE_VALUE = 'ON' */`

// ask asks that once.
func (s *setUp) ask(ctx context.Context, conn driver.Conn) error {
	takes := s.named || s.from.Load() < s.probed
	if !takes || wire.Answer(s.torn.Load()) != wire.NotAsked { //nolint:gosec // one of three
		return nil
	}
	on, err := IsOn(ctx, conn, askGalera)
	switch {
	case mysqlerr.Number(err) == erUnknownVariable:
		on = false
	case err != nil:
		return fmt.Errorf("onerow: set up a connection: %w", err)
	}
	s.torn.Store(int32(wire.No))
	if on {
		s.torn.Store(int32(wire.Yes))
	}
	return nil
}

const erUnknownVariable = 1193

// probe makes a set-up that finds out whether several statements may be sent at once, which a proxy may
// refuse.
func (s *setUp) probe() *setUp {
	var probing [][]string
	for _, text := range s.texts {
		probing = append(probing, append(slices.Clone(text[:len(text)-1]), text[len(text)-1]+"; "+askPeer))
	}
	return &setUp{texts: append(probing, s.texts...), probed: int32(len(probing)), known: s.known, named: s.named} //nolint:gosec // there are three
}

// takes says what a session takes that was set up.
func (s *setUp) takes() Packets {
	switch {
	case wire.Answer(s.torn.Load()) != wire.No: //nolint:gosec // one of three
		return OnePacketEach
	case s.named:
		return AsTheNameSays
	case s.from.Load() < s.probed:
		return Together
	}
	return OnePacketEach
}

// do sets a session up, and says what the server calls it.
func (s *setUp) do(ctx context.Context, conn driver.Conn) (as Peer, err error) {
	execer, ok := conn.(driver.ExecerContext)
	if !ok {
		return as, errNoText
	}
	for i := int(s.from.Load()); i < len(s.texts); i++ {
		probes := i < int(s.probed)
		for j, text := range s.texts[i] {
			if probes && j == len(s.texts[i])-1 {
				as, err = knownAs(ctx, conn, text)
			} else {
				_, err = execer.ExecContext(ctx, text, nil)
			}
			if err != nil {
				break
			}
		}
		if err == nil {
			s.from.Store(int32(i)) //nolint:gosec // there are six
			if !probes && s.known {
				as, _ = knownAs(ctx, conn, askPeer) //nolint:errcheck // then it is not killed where its caller leaves it
			}
			return as, s.ask(ctx, conn)
		}
		understood := mysqlerr.Number(err) == 0 && !errors.Is(err, errOddAnswer)
		if understood || mysqlerr.MayRunAgain(err) {
			break
		}
	}
	return as, fmt.Errorf("onerow: set up a connection: %w", err)
}

var errOddAnswer = errors.New("onerow: the server answered what was not asked")

// knownAs is what the server calls the session. The text ends with askPeer.
func knownAs(ctx context.Context, conn driver.Conn, text string) (as Peer, err error) {
	row, err := asked(ctx, conn, text)
	if err == nil && (len(row) != 2 || !digits(row[0])) {
		err = fmt.Errorf("%w: %q to %s", errOddAnswer, row, askPeer)
	}
	if err != nil {
		return as, err
	}
	return Peer{id: row[0], server: row[1]}, nil
}
