package crashtest

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// sqlStatus is the one list of waiting transactions that is live on both engines and names sessions: a
// transaction is shown as LOCK WAIT from the moment when its request is queued until the moment when it is
// granted, which is before the answer to the COMMIT that granted it. INNODB_TRX is cached for 0.1 s;
// Innodb_row_lock_current_waits is the whole server's, and still counts a session that was granted its lock
// and has not run since. It takes 0.1 to 0.3 ms, no longer than SHOW STATUS.
const sqlStatus = `SHOW ENGINE INNODB STATUS`

// forRows returns the sessions that wait for a row or table lock of InnoDB, by their ids on the server.
func (s *server) forRows(ctx context.Context) (map[uint64]bool, error) {
	var engine, name, status string
	if err := s.db.QueryRowContext(ctx, sqlStatus).Scan(&engine, &name, &status); err != nil {
		return nil, fmt.Errorf("asking the server who waits for a lock: %w", err)
	}
	found := waitingIn(status)
	if s.mariaDB {
		return found, nil
	}
	var waiting int
	if err := s.db.QueryRowContext(ctx, sqlCount).Scan(&waiting); err != nil {
		return nil, fmt.Errorf("asking the server how many wait for a lock: %w", err)
	}
	if waiting <= len(found) {
		return found, nil
	}
	return found, s.ask(ctx, "who waits for a lock", sqlRequests, func(id uint64, _ string) { found[id] = true })
}

// ask reads rows of a number and what stands beside it.
func (s *server) ask(ctx context.Context, what, query string, take func(id uint64, beside string)) error {
	err := eachRow(ctx, s.db, query, func(rows *sql.Rows) error {
		var id uint64
		var beside string
		err := rows.Scan(&id, &beside)
		take(id, beside)
		return err
	})
	if err != nil {
		return fmt.Errorf("asking the server %s: %w", what, err)
	}
	return nil
}

// sqlCount says whether the status left somebody out: it is never lower than the number of sessions asleep
// behind a lock on a row. Where the status is complete, which is nearly always, it saves sqlRequests, four
// times as dear, for which InnoDB walks its lock table.
const sqlCount = `SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Innodb_row_lock_current_waits'`

// sqlRequests: MySQL's status lists no transaction that has only read so far, and LOCK IN SHARE MODE makes it
// no writing one. A lock's thread is the one that made it, which for a lock on a row that another session has
// moved within its page since is that other one. The lock on the table, which every transaction with a lock
// on a row has, is its own.
const sqlRequests = `SELECT DISTINCT t.PROCESSLIST_ID, '' FROM performance_schema.data_lock_waits AS w
 JOIN performance_schema.data_locks AS l ON l.ENGINE_TRANSACTION_ID = w.REQUESTING_ENGINE_TRANSACTION_ID AND l.LOCK_TYPE = 'TABLE'
 JOIN performance_schema.threads AS t ON t.THREAD_ID = l.THREAD_ID WHERE t.PROCESSLIST_ID IS NOT NULL`

// sqlLocks are the locks that are waited for, by the session that waits; see sqlRequests for how it is known.
const sqlLocks = `SELECT t.PROCESSLIST_ID, CONCAT(r.LOCK_MODE, ' on ', r.OBJECT_NAME, COALESCE(CONCAT('.', r.INDEX_NAME), ''), COALESCE(CONCAT(' (', r.LOCK_DATA, ')'), ''))
 FROM performance_schema.data_lock_waits AS w
 JOIN performance_schema.data_locks AS r ON r.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID
 JOIN performance_schema.data_locks AS l ON l.ENGINE_TRANSACTION_ID = w.REQUESTING_ENGINE_TRANSACTION_ID AND l.LOCK_TYPE = 'TABLE'
 JOIN performance_schema.threads AS t ON t.THREAD_ID = l.THREAD_ID WHERE t.PROCESSLIST_ID IS NOT NULL`

// lockOf names the lock that one of the sessions waits for. MariaDB's list of locks is cached, so it is not
// asked there.
func (s *server) lockOf(ctx context.Context, sessions []uint64) (lock string, err error) {
	if s.mariaDB {
		return "", nil
	}
	err = s.ask(ctx, "for which lock a session waits", sqlLocks, func(id uint64, name string) {
		if slices.Contains(sessions, id) {
			lock = name
		}
	})
	return lock, err
}

// waitingIn reads the list of transactions. Each begins with "---TRANSACTION", then come LOCK WAIT if it
// waits, then the session; what follows, the query among it, is not looked at.
func waitingIn(status string) map[uint64]bool {
	_, list, _ := strings.Cut(status, "LIST OF TRANSACTIONS FOR EACH SESSION:")
	found := map[uint64]bool{}
	waiting, inHead := false, false
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, "---TRANSACTION ") {
			waiting, inHead = false, true
			continue
		}
		if !inHead {
			continue
		}
		if strings.HasPrefix(line, "LOCK WAIT ") {
			waiting = true
			continue
		}
		for _, engine := range []string{"MySQL thread id ", "MariaDB thread id "} {
			rest, ok := strings.CutPrefix(line, engine)
			if !ok {
				continue
			}
			inHead = false
			digits, _, _ := strings.Cut(rest, ",")
			if id, err := strconv.ParseUint(digits, 10, 64); err == nil && waiting {
				found[id] = true
			}
		}
	}
	return found
}

// Waits that are not InnoDB's: metadata locks (DDL, LOCK TABLES) and named locks (GET_LOCK). MySQL's
// PROCESSLIST converts every session's query to utf8mb3, and fails where one has binary data in it.
const (
	sqlStatesByMaria = `SELECT ID, COALESCE(STATE, '') FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Sleep'`
	sqlStatesByMy    = `SELECT PROCESSLIST_ID, COALESCE(PROCESSLIST_STATE, '') FROM performance_schema.threads WHERE PROCESSLIST_STATE IS NOT NULL AND PROCESSLIST_ID IS NOT NULL`
)

// forOthers returns the sessions that wait for a metadata lock or a named lock. Other than forRows it may
// still list a session whose lock was granted a moment ago.
func (s *server) forOthers(ctx context.Context) (map[uint64]bool, error) {
	found := map[uint64]bool{}
	query := sqlStatesByMy
	if s.mariaDB {
		query = sqlStatesByMaria
	}
	return found, s.ask(ctx, "for the sessions' states", query, func(id uint64, state string) {
		if state == "User lock" || strings.HasPrefix(state, "Waiting for ") && strings.HasSuffix(state, " lock") {
			found[id] = true
		}
	})
}

// sqlEdges says who waits for whom: transactions, for the thread of a lock is the one that made it. MySQL
// only: MariaDB's INNODB_LOCK_WAITS is cached.
const sqlEdges = `SELECT REQUESTING_ENGINE_TRANSACTION_ID, BLOCKING_ENGINE_TRANSACTION_ID FROM performance_schema.data_lock_waits`

// deadlocked says whether sessions wait for each other in a circle that the server is about to break. MySQL
// breaks them in a thread of its own, a moment after the last one began to wait; MariaDB's last one looks for
// circles before it sleeps, so there is none to see.
func (s *server) deadlocked(ctx context.Context) (bool, error) {
	if s.mariaDB {
		return false, nil
	}
	edges := map[uint64][]uint64{}
	err := s.ask(ctx, "who waits for whom", sqlEdges, func(from uint64, to string) {
		if id, err := strconv.ParseUint(to, 10, 64); err == nil {
			edges[from] = append(edges[from], id)
		}
	})
	return hasCircle(edges), err
}

// hasCircle takes away who waits for nobody that waits, until nothing changes: what is left are circles and
// who waits for them.
func hasCircle(edges map[uint64][]uint64) bool {
	waits := func(id uint64) bool { return edges[id] != nil }
	for before := -1; before != len(edges); {
		before = len(edges)
		maps.DeleteFunc(edges, func(_ uint64, blockers []uint64) bool { return !slices.ContainsFunc(blockers, waits) })
	}
	return len(edges) > 0
}

// anyOf says whether one of the sessions is in the set.
func anyOf(sessions []uint64, set map[uint64]bool) bool {
	return slices.ContainsFunc(sessions, func(id uint64) bool { return set[id] })
}
