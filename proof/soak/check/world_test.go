package check_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/proof/soak/journal"
	"github.com/onerow/onerow/proof/soak/load"
	"github.com/onerow/onerow/repo"
)

// world is a database after a short load without chaos, with rows besides whose history is known in each
// word.
type world struct {
	t       *testing.T
	db      *sql.DB
	entries []journal.Entry
	ids     map[string]int64
	now     int64
}

const (
	owners  = 4
	enough  = 300 // operations
	special = 99  // the owner of the rows with a known history
)

// newWorld runs real clients in this process, then does by hand what the plants need, and drains.
func newWorld(t *testing.T) *world {
	dsn := dbtest.DSN(t)
	w := &world{t: t, db: dbtest.OpenDSN(t, dsn), ids: map[string]int64{}, now: time.Now().Add(time.Hour).UnixNano()}
	ctx := t.Context()
	w.must(load.CreateTables(ctx, w.db, false, owners))
	w.exec(`INSERT INTO soak_user (id, max_projects) VALUES (?, 3)`, special)
	dir := t.TempDir()
	w.runClients(dsn, filepath.Join(dir, "web.journal"))
	entries, err := journal.Read(dir)
	w.must(err)
	w.entries = entries
	w.known(ctx)
	w.drain(ctx)
	// What is doubled must be possible to plant.
	for _, stmt := range []string{`ALTER TABLE project DROP INDEX one_name`, `ALTER TABLE screen DROP INDEX one_name`,
		`ALTER TABLE onerow_serial_claim DROP INDEX from_no`} {
		w.exec(stmt)
	}
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) exec(stmt string, args ...any) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), stmt, args...)
	w.must(err)
}

func (w *world) runClients(dsn, path string) {
	in, tellIt := io.Pipe()
	says, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := load.Run(in, out)
		_ = out.Close()
		ended <- err
	}()
	w.must(json.NewEncoder(tellIt).Encode(load.Config{Role: load.Web, Name: "web", DSN: dsn, Journal: path, Clients: 4, Owners: owners,
		Seed: 1, Began: time.Now().UnixNano()}))
	lines := bufio.NewScanner(says)
	for lines.Scan() {
		var tick load.Tick
		w.must(json.Unmarshal(lines.Bytes(), &tick))
		var failed bool // which a tenth of the keys is made to be
		w.must(w.db.QueryRowContext(w.t.Context(), "SELECT EXISTS (SELECT 1 FROM onerow_key WHERE operation = 'charge' AND status = 'error')").Scan(&failed))
		if failed && tick.OK >= enough {
			w.must(tellIt.Close())
		}
	}
	w.must(<-ended)
}

// note journals a call as if it had just been made, after all others.
func (w *world) note(e journal.Entry) {
	w.now += 1000
	e.Result, e.Start, e.End = journal.OK, w.now, w.now+1
	w.entries = append(w.entries, e)
}

// known makes the rows that the plants break.
func (w *world) known(ctx context.Context) {
	plan := load.Plan(false)
	projects, err := repo.New[load.Project](plan, load.ProjectResource)
	w.must(err)
	screens, err := repo.New[load.Screen](plan, load.ScreenResource)
	w.must(err)
	comments, err := repo.New[load.Comment](plan, load.CommentResource)
	w.must(err)
	for _, name := range []string{"plain", "tree", "archived", "deleted"} {
		res, err := projects.Create(ctx, w.db, load.Project{UserID: special, Name: name}, repo.RequestID(name))
		w.must(err)
		w.ids[name] = res.Row.ID
		w.note(journal.Entry{Op: journal.Create, Resource: load.ProjectResource, Owner: special, Key: name, Value: name, ID: res.Row.ID})
	}
	for project, screen := range map[string]string{"tree": "screen", "deleted": "doomed"} {
		res, err := screens.Create(ctx, w.db, load.Screen{ProjectID: w.ids[project], Filename: screen}, repo.RequestID(screen))
		w.must(err)
		w.ids[screen] = res.Row.ID
		w.note(journal.Entry{Op: journal.Create, Resource: load.ScreenResource, Owner: w.ids[project], Key: screen, Value: screen, ID: res.Row.ID})
	}
	said, err := comments.Create(ctx, w.db, load.Comment{ScreenID: w.ids["screen"], Body: "x"}, repo.RequestID("comment"))
	w.must(err)
	w.ids["comment"] = said.Row.ID
	w.note(journal.Entry{Op: journal.Create, Resource: load.CommentResource, Owner: w.ids["screen"], Key: "comment", ID: said.Row.ID})
	_, err = projects.Rename(ctx, w.db, w.ids["tree"], "Tree!")
	w.must(err)
	w.note(journal.Entry{Op: journal.Rename, Resource: load.ProjectResource, ID: w.ids["tree"], Value: "Tree!"})
	_, err = projects.Update(ctx, w.db, w.ids["tree"], func(p *load.Project) error { p.Hits++; return nil })
	w.must(err)
	w.note(journal.Entry{Op: journal.Update, Resource: load.ProjectResource, ID: w.ids["tree"]})
	_, err = projects.Archive(ctx, w.db, w.ids["archived"])
	w.must(err)
	w.note(journal.Entry{Op: journal.Archive, Resource: load.ProjectResource, ID: w.ids["archived"]})
	del, err := projects.Delete(ctx, w.db, w.ids["deleted"])
	w.must(err)
	w.ids["job"] = del.JobID
	w.note(journal.Entry{Op: journal.Delete, Resource: load.ProjectResource, ID: w.ids["deleted"], Changed: true})
	w.note(journal.Entry{Op: journal.SetLimit, Owner: special, Number: 3})
	w.knownKey(ctx)
}

// knownKey completes a key in two steps.
func (w *world) knownKey(ctx context.Context) {
	keys, err := idempotency.New(idempotency.Config{})
	w.must(err)
	claim, _, err := idempotency.Begin[string](ctx, w.db, keys, idempotency.Key{Operation: load.TwoSteps, ID: "known"})
	w.must(err)
	w.note(journal.Entry{Op: journal.Begin, Key: "known", Number: claim.Token})
	w.must(load.CompleteClaim(ctx, w.db, keys, claim, "done"))
	w.note(journal.Entry{Op: journal.Complete, Key: "known", Number: claim.Token, Value: "done"})
}

// drain does what the soak does after the chaos, but for claims: nobody was killed here.
func (w *world) drain(ctx context.Context) {
	worker, err := load.NewWorker(w.db, false)
	w.must(err)
	sweeper, err := load.NewSweeper(w.db, false)
	w.must(err)
	dbtest.Eventually(w.t, time.Minute, func() (bool, string) {
		w.must(load.RestoreHeld(ctx, w.db, false))
		w.must(worker.Drain(ctx))
		_, err := sweeper.RunOnce(ctx)
		w.must(err)
		var open int
		w.must(onerow.QueryRow(ctx, w.db, `SELECT (SELECT COUNT(*) FROM onerow_job) + (SELECT COUNT(*) FROM onerow_quota_mark)`, nil, &open))
		return open == 0, fmt.Sprintf("%d jobs and marks are open", open)
	})
	w.must(load.RestoreDeleted(ctx, w.db, false))
	// A step that was given up when the clients ended left its claim, which the soak's drain would take over.
	w.exec(`DELETE FROM onerow_key WHERE status = 'in_progress'`)
	for i, e := range w.entries {
		if e.Op == journal.Begin && e.Number != 0 {
			var n int
			w.must(onerow.QueryRow(ctx, w.db, `SELECT COUNT(*) FROM onerow_key WHERE operation = ? AND idem_key = ?`, []any{load.TwoSteps, e.Key}, &n))
			if n == 0 {
				w.entries[i].Result = journal.Refused
			}
		}
	}
}
