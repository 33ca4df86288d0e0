package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/onerow/onerow/internal/devdb"
)

// leakPatience is how long what the tests have ended may take to be gone. It costs time only where something
// stays.
const leakPatience = 30 * time.Second

// goroutines are the stacks of those that run, by their "goroutine 17".
func goroutines() map[string]string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	all := map[string]string{}
	for stack := range strings.SplitSeq(string(buf), "\n\n") {
		name, _, _ := strings.Cut(stack, " [")
		all[name] = stack
	}
	return all
}

// lasting are goroutines that packages of others start once and never end.
var lasting = []string{"go.opencensus.io/stats/view.(*worker).start", "os/signal.loop", "runtime.ensureSigM"}

// stray are the goroutines that were not there before.
func stray(before map[string]string) (stacks []string) {
	for name, stack := range goroutines() {
		if _, known := before[name]; known {
			continue
		}
		mayLast := false
		for _, text := range lasting {
			mayLast = mayLast || strings.Contains(stack, text)
		}
		if !mayLast {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// strayGoroutines says which goroutines stay although every test has ended.
func strayGoroutines(before map[string]string, patience time.Duration) error {
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
	var stacks []string
	for deadline := time.Now().Add(patience); ; time.Sleep(pollEvery) {
		if stacks = stray(before); len(stacks) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d goroutines stay after the tests:\n%s", len(stacks), strings.Join(stacks, "\n\n"))
		}
	}
}

// sqlSessions lists sessions without what they run: MySQL refuses to list processes at all while one of them
// runs bytes that are no text.
const (
	sqlSessions      = `SELECT COUNT(*), LEFT(GROUP_CONCAT(CONCAT_WS(' ', id, db, command, time, state) SEPARATOR '\n'), 2000) FROM information_schema.processlist WHERE db LIKE ?`
	sqlSessionsMySQL = `SELECT COUNT(*), LEFT(GROUP_CONCAT(CONCAT_WS(' ', processlist_id, processlist_db, processlist_command, processlist_time, processlist_state)
 SEPARATOR '\n'), 2000) FROM performance_schema.threads WHERE processlist_id IS NOT NULL AND processlist_db LIKE ?`
)

// straySessions says which sessions on the schemas of this process stay on the server although every pool
// should be closed.
func straySessions(ctx context.Context, server *devdb.Server, patience time.Duration) (err error) {
	db, err := sql.Open("mysql", server.DSN(""))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	query := sqlSessions
	if server.Engine() == devdb.MySQL {
		query = sqlSessionsMySQL
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(pollEvery) {
		var n int
		var which sql.NullString
		err := db.QueryRowContext(ctx, query, fmt.Sprintf(`onerow\_t\_%d\_%%`, os.Getpid())).Scan(&n, &which)
		if err != nil || n == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d sessions stay on the server after the tests:\n%s", n, which.String)
		}
	}
}
