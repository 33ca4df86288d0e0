package featurefuzz

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// Kinds of findings.
const (
	brokenRefusal = "what the docs let in is refused"
	brokenWelcome = "what must be refused is not"
	brokenUnclear = "a refusal that no error of the toolkit names"
	brokenOwnSQL  = "the server refuses a statement of the toolkit's"
	brokenRefused = "what was refused has changed something"
	brokenVerb    = "a verb does not do its work"
	brokenDelete  = "a deletion is not what it should be"
	brokenRestore = "a restore is not what it should be"
)

// trial is a round under way.
type trial struct {
	*world
	*run
	admin, db *sql.DB // of its database; db is the drawn pool
	database  string
	label     string
	kill      bool
	refusal   string
	worked    bool
}

// found adds a finding, with what the schema had.
func (t *trial) found(kind, format string, args ...any) {
	t.worked = false
	t.run.found.Add(kind, "%s: %s", t.label, fmt.Sprintf(format, args...))
}

// play makes the round.
func (t *trial) play(ctx context.Context) error {
	err := t.create(ctx, t.admin)
	if err == nil {
		err = t.createTriggers(ctx, t.admin)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNotMade, err)
	}
	before, err := t.read(ctx, t.admin)
	if err != nil {
		return err
	}
	worker, refusal, err := t.begin(ctx)
	if err != nil || refusal != nil {
		return errors.Join(err, t.refused(ctx, refusal, before))
	}
	for name, at := range t.has {
		if f := slices.IndexFunc(features, func(f feature) bool { return f.name == name }); at && f >= 0 && features[f].refused {
			t.found(brokenWelcome, "%s", name)
			return nil
		}
	}
	t.worked = true
	if t.tables[0].archive != "" {
		if err := t.useVerbs(ctx, before); err != nil {
			return err
		}
	}
	roots := t.r.Perm(len(t.tables[0].rows))
	for _, root := range roots[:1+t.r.IntN(2)] {
		if err := t.deleteAndRestore(ctx, worker, root); err != nil || !t.worked {
			return err
		}
	}
	return nil
}

// begin does what a program does before it works. A refusal is the toolkit's.
func (t *trial) begin(ctx context.Context) (worker *cascade.Worker, refusal, err error) {
	if refusal = t.plan.Check(); refusal != nil {
		return nil, refusal, nil
	}
	refusal, server := t.trashTables(ctx, t.admin)
	const tooWide = 1118 // the trash table's own columns are the last straw, as TrashDDL says
	if server != nil && (!t.has[ofFullRow] || mysqlerr.Number(server) != tooWide) {
		t.found(brokenOwnSQL, "%v", server)
	}
	if refusal = cmp.Or(refusal, server); refusal != nil {
		return nil, refusal, nil
	}
	asked := time.Now()
	refusal = live.Verify(ctx, t.db, t.plan)
	if t.longest[t.database] = max(t.longest[t.database], time.Since(asked)); refusal != nil {
		return nil, refusal, nil
	}
	c := cascade.Config{Batch: 1 + t.r.IntN(20), Chunk: 1 + t.r.IntN(12), Load: 1, Lease: time.Second}
	worker, refusal = cascade.NewWorker(t.db, t.plan, c)
	return worker, refusal, nil
}

// refused judges a refusal: that it may be, that it is one of the toolkit's, and that nothing has changed.
func (t *trial) refused(ctx context.Context, refusal error, before *image) error {
	if refusal == nil {
		return nil
	}
	t.refusal = short(refusal)
	var differs *live.VerifyError
	allowed := slices.ContainsFunc(features, func(f feature) bool { return t.has[f.name] && (f.refused || f.either) })
	switch {
	case !allowed && !isServers(refusal):
		t.found(brokenRefusal, "%v", refusal)
	case !errors.Is(refusal, schema.ErrInvalidPlan) && !errors.As(refusal, &differs) && !isServers(refusal):
		t.found(brokenUnclear, "%v", refusal)
	}
	if err := t.workerRefuses(ctx); err != nil {
		return err
	}
	after, err := t.read(ctx, t.admin)
	if err != nil {
		return err
	}
	for _, wrong := range (&expectation{}).compare(before, after) {
		t.found(brokenRefused, "%s; refused was: %v", wrong, refusal)
	}
	return nil
}

// blind are refusals of Verify alone: a worker that is started nevertheless goes on, for it does not need
// what is missing.
var blind = []string{ofUnaccepted, ofGoneTrigger, ofOtherEngine}

// workerRefuses starts a worker nevertheless, where none can do the work.
func (t *trial) workerRefuses(ctx context.Context) error {
	if slices.ContainsFunc(blind, func(name string) bool { return t.has[name] }) {
		return nil
	}
	worker, err := cascade.NewWorker(t.db, t.plan, cascade.Config{Load: 1})
	if err != nil {
		return nil //nolint:nilerr // it refuses
	}
	id, err := t.rootID(ctx, 0)
	if err != nil {
		return err
	}
	if _, err := queue.Enqueue(ctx, t.db, queue.Deletion{Resource: t.tables[0].name, ResourceID: id, From: queue.FromOperator}); err != nil {
		return nil //nolint:nilerr // it refuses
	}
	soon, cancel := context.WithTimeout(ctx, 700*time.Millisecond)
	defer cancel()
	_ = worker.Drain(soon) //nolint:errcheck // what it has changed is looked at
	return nil
}

// short is an error on one line, without the names of the round.
func short(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if i := strings.Index(text, "declares it ("); i >= 0 {
		text = text[i+len("declares it "):]
	}
	parts := strings.Split(text, "\"")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "…"
	}
	return fmt.Sprintf("%.180s", strings.Join(parts, "\""))
}

// rootID is the encoded key of a root.
func (t *trial) rootID(ctx context.Context, number int) (string, error) {
	p := t.tables[0].key[0]
	read := "CAST(" + ident.Quote(p.name) + " AS BINARY)"
	if p.kind.text {
		read = "CONVERT(" + ident.Quote(p.name) + " USING utf8mb4)"
	}
	var raw []byte
	query := fmt.Sprintf("SELECT %s FROM %s WHERE n = %d", read, ident.Quote(t.tables[0].name), number)
	if archive := t.tables[0].archive; archive != "" {
		query += fmt.Sprintf(" UNION ALL SELECT %s FROM %s WHERE n = %d", read, ident.Quote(archive), number)
	}
	if err := onerow.QueryRow(ctx, t.admin, query, nil, &raw); err != nil {
		return "", fmt.Errorf("the key of root %d: %w", number, err)
	}
	switch {
	case p.kind.text:
		return onerow.EncodeKey(string(raw)) //nolint:wrapcheck // it says all
	case strings.HasPrefix(p.typ, "VARBINARY"):
		return onerow.EncodeKey(raw) //nolint:wrapcheck // it says all
	case strings.HasPrefix(p.typ, "BIGINT UNSIGNED"):
		n, err := strconv.ParseUint(string(raw), 10, 64)
		if err != nil {
			return "", fmt.Errorf("soak: %w", err)
		}
		return onerow.EncodeKey(n) //nolint:wrapcheck // it says all
	}
	return string(raw), nil
}

// useVerbs has verbs move rows of the resource, and looks at their bytes.
func (t *trial) useVerbs(ctx context.Context, before *image) error {
	if err := t.verbs(ctx, t.db, t.tables[0]); err != nil {
		t.found(brokenVerb, "%v", err)
		return nil
	}
	after, err := t.read(ctx, t.admin)
	if err != nil {
		return err
	}
	for _, m := range []*image{before, after} {
		for p, l := range m.rows {
			if t.has[ofViews] && p.table == t.views[0] {
				delete(m.rows, p) // it shows what is active
			} else if l.where = ""; p.table == t.tables[0].name {
				delete(l.cells, "name")
				for _, c := range t.tables[0].data {
					if strings.Contains(c.typ, "ON UPDATE") { // an edit moves it
						delete(l.cells, c.name)
					}
				}
				m.rows[p] = l
			} else {
				m.rows[p] = l
			}
		}
	}
	for _, wrong := range (&expectation{}).compare(before, after) {
		t.found(brokenVerb, "%s", wrong)
	}
	return nil
}

// verb is one verb, with its way back half of the time.
func (w *world) verb(ctx context.Context, db *sql.DB, things *repo.Repo[thing], id int64) (err error) {
	one, err := things.Get(ctx, db, id)
	if err != nil {
		return fmt.Errorf("get: %w", err)
	}
	switch w.r.IntN(5) {
	case 0:
		_, err = things.Archive(ctx, db, id)
	case 1:
		_, err = things.Activate(ctx, db, id)
	case 2:
		if _, err = things.Activate(ctx, db, id); err == nil {
			_, err = things.Rename(ctx, db, id, one.Name+" again")
		}
	case 3:
		if _, err = things.Activate(ctx, db, id); err == nil {
			_, err = things.Update(ctx, db, id, func(row *thing) error { row.Touched++; return nil })
		}
		if err == nil {
			_, err = things.Update(ctx, db, id, func(row *thing) error { row.Touched--; return nil })
		}
	case 4:
		if _, err = things.Delete(ctx, db, id, repo.Grace(time.Hour)); err == nil {
			_, err = things.CancelDelete(ctx, db, id)
		}
	}
	return err //nolint:wrapcheck // it says all
}
