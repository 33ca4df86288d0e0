package onerow

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// ReadCommitted wraps a connector so that each new connection starts in autocommit at READ
// COMMITTED. It is a statement and not a setting of the data source name, because
// the variable's name differs between the engines. One statement per connection.
func ReadCommitted(c driver.Connector) driver.Connector {
	return recommended{c, newSetUp([][]string{{setSession}, {setReadCommitted, setAutocommit}})}
}

// One statement for both engines: MariaDB before 11.1 knows only tx_isolation, MySQL only
// transaction_isolation. Either reads what is in its own kind of comment.
const (
	setAutocommit    = `SET SESSION autocommit = 1`
	setIsolation     = `, SESSION /*!50701 transaction_isolation */ /*M! tx_isolation */ = 'READ-COMMITTED'`
	setSession       = setAutocommit + setIsolation
	setClientCharset = `, SESSION character_set_client = `
)

// Where those comments are not understood, by a proxy or by a later engine, it takes two statements.
const setReadCommitted = `SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`

// Causal reads. A MariaDB that was built without wsrep lacks its variables, and MySQL those of a plugin that
// it has not loaded (error 1193). Neither asks for more than a session of one's own.
const (
	setSyncWait = ` /*M! , SESSION wsrep_sync_wait = @@wsrep_sync_wait | IF(@@wsrep_on, 7, 0) */`
	setBefore   = ` /*!80014 , SESSION group_replication_consistency = IF(@@group_replication_consistency IN ('EVENTUAL', 'BEFORE_ON_PRIMARY_FAILOVER'),
 IF(@@group_replication_single_primary_mode, 'BEFORE_ON_PRIMARY_FAILOVER', 'BEFORE'), @@group_replication_consistency) */`
	setRouted = `, ` + routed + ` = 1`
)

// routed is the session's variable for who reads a cluster without waiting, and knows it: [Check] asks for
// it, for a server does not tell a value that was chosen from its default.
const routed = `@onerow_routed`

// setUpTexts are the statements that set up a session of the configuration, in the ways in which it can be
// done: what a server may not understand comes first. What the configuration says itself comes behind what it
// may choose, so it wins, and before what has to be so.
func setUpTexts(cfg *mysql.Config, isolation bool) [][]string {
	more, causal := "", setSyncWait+setBefore
	if len(charsets(cfg)) == 0 { // else the driver sends SET NAMES
		more = setCharsets(cfg)
	}
	if saysConsistency(cfg) {
		more, causal = more+setRouted, ""
	}
	mode := setMode
	for _, param := range slices.Sorted(maps.Keys(cfg.Params)) {
		value := cfg.Params[param]
		if variable(param) == "sql_mode" {
			value, mode = modeWithoutEmpty(value), ""
		}
		if strings.Contains(value, "#") || strings.Contains(value, "--") {
			value += "\n" // a comment in it ends here, not behind what follows
		}
		more += ", " + param + " = " + value
	}
	more += setRequired() + mode
	level := setIsolation
	if isolation {
		level = ""
	}
	texts := [][]string{{setAutocommit + level + causal + more}}
	if causal != "" {
		texts = append(texts, []string{setAutocommit + level + more})
	}
	if !isolation {
		texts = append(texts, []string{setReadCommitted, setAutocommit + more})
	}
	return texts
}

// saysConsistency says whether the configuration itself says how causal reads are. A value is sent as it is,
// so it may hold a second assignment.
func saysConsistency(cfg *mysql.Config) bool {
	for param, value := range cfg.Params {
		text := strings.ToLower(param + "=" + value)
		if strings.Contains(text, "wsrep_sync_wait") || strings.Contains(text, "group_replication_consistency") {
			return true
		}
	}
	return false
}

// recommended sets up each new session.
type recommended struct {
	driver.Connector
	*setUp
}

// setUp has the ways to set up a session of one server, and remembers which of them it understands. So a
// server without the variables of a cluster pays for that once and not with each connection.
type setUp struct {
	texts  [][]string
	from   atomic.Int32
	probed int32        // the first so many are several statements at once
	known  bool         // what the server calls a session is asked
	named  bool         // the data source name asks for several statements at once
	torn   atomic.Int32 // an answer: a packet may be torn apart by another node's transaction
}

// askGalera is asked where several statements are taken. A node of Galera that aborts a transaction for
// another node's may run the rest of its packet outside of it, and answer that all was committed. A server
// that does not have the variable has no Galera. It reads no table of the application's.
const askGalera = `/*M! SELECT @@wsrep_on */ /*!50701 SELECT COUNT(*) FROM performance_schema.global_variables WHERE VARIABLE_NAME = 'wsrep_on' AND VARIABLE_VALUE = 'ON' */`

// ask asks that once.
func (s *setUp) ask(ctx context.Context, conn driver.Conn) error {
	takes := s.named || s.from.Load() < s.probed
	if !takes || answer(s.torn.Load()) != notAsked { //nolint:gosec // one of three
		return nil
	}
	on, err := isOn(ctx, conn, askGalera)
	switch {
	case errNumber(err) == erUnknownVariable:
		on = false
	case err != nil:
		return fmt.Errorf("onerow: set up a connection: %w", err)
	}
	s.torn.Store(int32(no))
	if on {
		s.torn.Store(int32(yes))
	}
	return nil
}

const erUnknownVariable = 1193

// isOn asks a question whose answer is 0, 1 or no row.
func isOn(ctx context.Context, conn driver.Conn, question string) (bool, error) {
	queryer, ok := conn.(driver.QueryerContext)
	if !ok {
		return true, nil
	}
	rows, err := queryer.QueryContext(ctx, question, nil)
	if err != nil {
		return false, err
	}
	row := make([]driver.Value, 1)
	if err := errors.Join(rows.Next(row), rows.Close()); err != nil {
		return false, err
	}
	return fmt.Sprintf("%s", row[0]) != "0" && row[0] != int64(0), nil
}

func newSetUp(texts [][]string) *setUp { return &setUp{texts: texts} }

// probe makes a set-up that finds out whether several statements may be sent at once, which a proxy may
// refuse.
func (s *setUp) probe() *setUp {
	var probing [][]string
	for _, text := range s.texts {
		probing = append(probing, append(slices.Clone(text[:len(text)-1]), text[len(text)-1]+"; "+askPeer))
	}
	return &setUp{texts: append(probing, s.texts...), probed: int32(len(probing)), known: s.known, named: s.named} //nolint:gosec // there are three
}

// packets says what a session takes that was set up.
func (s *setUp) packets() packets {
	switch {
	case answer(s.torn.Load()) != no: //nolint:gosec // one of three
		return onePacketEach
	case s.named:
		return asTheNameSays
	case s.from.Load() < s.probed:
		return together
	}
	return onePacketEach
}

// Connect opens a session and sets it up.
func (r recommended) Connect(ctx context.Context) (driver.Conn, error) {
	conn, _, err := r.connect(ctx)
	return conn, err
}

// connect also says what the server calls the session.
func (r recommended) connect(ctx context.Context) (driver.Conn, peer, error) {
	conn, err := r.Connector.Connect(ctx)
	if err != nil {
		return nil, peer{}, err
	}
	as, err := r.do(ctx, conn)
	if err != nil {
		return nil, peer{}, errors.Join(err, conn.Close())
	}
	as.dial = r.Connector
	return conn, as, nil
}

// do sets a session up, and says what the server calls it.
func (s *setUp) do(ctx context.Context, conn driver.Conn) (as peer, err error) {
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
		understood := errNumber(err) == 0 && !errors.Is(err, errOddAnswer)
		if understood || mysqlerr.MayRunAgain(err) {
			break
		}
	}
	return as, fmt.Errorf("onerow: set up a connection: %w", err)
}

var errOddAnswer = errors.New("onerow: the server answered what was not asked")

// knownAs is what the server calls the session. The text ends with askPeer.
func knownAs(ctx context.Context, conn driver.Conn, text string) (as peer, err error) {
	row, err := asked(ctx, conn, text)
	if err == nil && (len(row) != 2 || !digits(row[0])) {
		err = fmt.Errorf("%w: %q to %s", errOddAnswer, row, askPeer)
	}
	if err != nil {
		return as, err
	}
	return peer{id: row[0], server: row[1]}, nil
}
