package check_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/proof/soak/check"
	"github.com/onerow/onerow/proof/soak/journal"
	"github.com/onerow/onerow/proof/soak/load"
)

// plant is a violation, and where it must be found.
type plant struct {
	promise check.Promise
	column  check.Column
	// SQL breaks the tables; {name} is the id of a known row.
	sql []string
	// history breaks what was told.
	history func([]journal.Entry) []journal.Entry
}

const (
	columns      = `id, user_id, name, name_key, stem_key, copy_no, is_over_quota, version, created_at, updated_at, hits`
	fresh        = `INSERT INTO project (user_id, name, name_key, stem_key, created_at, updated_at) VALUES (99, '%[1]s', '%[1]s', '%[1]s', NOW(), NOW())`
	oneKey       = ` WHERE kind = 'charge' ORDER BY id LIMIT 1`
	anyTicket    = ` WHERE series = 'invoice' ORDER BY from_no LIMIT 1`
	anotherClaim = `UPDATE onerow_serial_claim SET from_no = from_no + 1, to_no = to_no + 1 WHERE series = 'invoice' ORDER BY from_no LIMIT 1`
)

// told replaces the results of the calls that a function picks.
func told(r journal.Result, pick func(journal.Entry) bool) func([]journal.Entry) []journal.Entry {
	return func(entries []journal.Entry) []journal.Entry {
		entries = slices.Clone(entries)
		for i := range entries {
			if pick(entries[i]) {
				entries[i].Result, entries[i].Maybe = r, false
			}
		}
		return entries
	}
}

// again adds a copy of the first call that a function picks, changed by another.
func again(pick func(journal.Entry) bool, change func(*journal.Entry)) func([]journal.Entry) []journal.Entry {
	return func(entries []journal.Entry) []journal.Entry {
		entries = slices.Clone(entries)
		for _, e := range entries {
			if e.Result == journal.OK && pick(e) {
				change(&e)
				return append(entries, e)
			}
		}
		return entries
	}
}

func op(o journal.Op) func(journal.Entry) bool {
	return func(e journal.Entry) bool { return e.Op == o }
}

var plants = map[string]plant{
	"a folder did not come back":   {check.Trash, check.Lost, []string{`INSERT INTO soak_told (leaves, body) VALUES (0, 'x')`}, nil},
	"a leaf did not come back":     {check.Trash, check.Lost, []string{`INSERT INTO soak_told (id, leaves, body) VALUES (1000000, 2, 'x')`, `INSERT INTO soak_folder VALUES (1000000, 'x')`, `INSERT INTO soak_leaf (folder, body) VALUES (1000000, 'x')`}, nil},
	"a leaf came back twice":       {check.Trash, check.Doubled, []string{`INSERT INTO soak_told (id, leaves, body) VALUES (1000000, 0, 'x')`, `INSERT INTO soak_folder VALUES (1000000, 'x')`, `INSERT INTO soak_leaf (folder, body) VALUES (1000000, 'x')`}, nil},
	"a leaf of nobody's":           {check.Trash, check.Doubled, []string{`INSERT INTO soak_leaf (folder, body) VALUES (1000000, 'x')`}, nil},
	"rows stay in the trash":       {check.Trash, check.Stuck, []string{`INSERT INTO onerow_trash VALUES (1000000, 1, 'soak_leaf', '', 1, NOW(), NOW(), NULL)`}, nil},
	"a row vanished":               {check.Creates, check.Lost, []string{`DELETE FROM project WHERE id = {plain}`}, nil},
	"a request is not recorded":    {check.Creates, check.Lost, []string{`DELETE FROM onerow_request WHERE row_id = '{plain}' AND resource = 'project'`}, nil},
	"a record without its row":     {check.Creates, check.Lost, []string{`UPDATE onerow_request SET row_id = NULL WHERE request_id = 'plain'`}, nil},
	"a row that nobody made":       {check.Creates, check.Doubled, []string{fmt.Sprintf(fresh, "new")}, nil},
	"two requests made one row":    {check.Creates, check.Doubled, []string{`UPDATE onerow_request SET row_id = '{tree}' WHERE request_id = 'plain'`}, nil},
	"a request has two answers":    {check.Creates, check.Duplicate, []string{`UPDATE onerow_request SET row_id = '{tree}' WHERE request_id = 'plain'`}, nil},
	"a failed create made a row":   {check.Creates, check.Doubled, nil, told(journal.Failed, func(e journal.Entry) bool { return e.Key == "plain" })},
	"a refused create made a row":  {check.Creates, check.Doubled, nil, told(journal.Refused, func(e journal.Entry) bool { return e.Key == "comment" })},
	"a row in both tables":         {check.Tables, check.Doubled, []string{`INSERT INTO project_archive (` + columns + `, archived_at) SELECT ` + columns + `, NOW() FROM project WHERE id = {plain}`}, nil},
	"archived by nobody":           {check.Tables, check.Doubled, []string{`INSERT INTO project_archive (` + columns + `, archived_at) SELECT ` + columns + `, NOW() FROM project WHERE id = {plain}`, `DELETE FROM project WHERE id = {plain}`}, nil},
	"an archive was lost":          {check.Tables, check.Lost, []string{`INSERT INTO project (` + columns + `) SELECT ` + columns + ` FROM project_archive WHERE id = {archived}`, `DELETE FROM project_archive WHERE id = {archived}`}, nil},
	"hidden for ever":              {check.Tables, check.Stuck, []string{`UPDATE project_archive SET deletion_id = 1 WHERE id = {archived}`}, nil},
	"two rows have a name":         {check.Names, check.Duplicate, []string{fmt.Sprintf(fresh, "plain")}, nil},
	"a rename was lost":            {check.Names, check.Lost, []string{`UPDATE project SET name = 'tree', name_key = 'tree' WHERE id = {tree}`}, nil},
	"a name changed by itself":     {check.Names, check.Lost, []string{`UPDATE project SET name = 'other', name_key = 'other' WHERE id = {plain}`}, nil},
	"a name without its key":       {check.Names, check.Lost, []string{`UPDATE project SET name = 'other' WHERE id = {tree}`}, nil},
	"an update was lost":           {check.Updates, check.Lost, []string{`UPDATE project SET hits = 0 WHERE id = {tree}`}, nil},
	"an update was applied twice":  {check.Updates, check.Doubled, []string{`UPDATE project SET hits = 2 WHERE id = {tree}`}, nil},
	"a failed update was applied":  {check.Updates, check.Doubled, nil, told(journal.Failed, func(e journal.Entry) bool { return e.Op == journal.Update && e.Start > 0 })},
	"a deleted row is back":        {check.Deletes, check.Lost, []string{`INSERT INTO project (` + columns + `) SELECT {deleted}, 99, 'd', 'd', 'd', 0, 0, 1, NOW(), NOW(), 0`}, nil},
	"a screen without project":     {check.Trees, check.Orphaned, []string{`UPDATE screen SET project_id = {deleted} WHERE id = {screen}`}, nil},
	"a comment without screen":     {check.Trees, check.Orphaned, []string{`UPDATE comment SET screen_id = {doomed} WHERE id = {comment}`}, nil},
	"a child of a living row gone": {check.Trees, check.Lost, []string{`DELETE FROM comment WHERE id = {comment}`}, nil},
	"a job is open": {check.Jobs, check.Stuck, []string{`INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at)
  VALUES ('project', '1', 1, 'ready', NOW(), NOW())`}, nil},
	"a job is dead":             {check.Jobs, check.Stuck, []string{`UPDATE onerow_job_archive SET state = 'dead' WHERE id = {job}`}, nil},
	"a cascade was done twice":  {check.Jobs, check.Doubled, []string{`INSERT INTO onerow_job_archive SELECT id + 1000000, resource, resource_id, deletion_id, state, due_at, token, worker, batch_seq, failures, last_error, created_at, started_at, finished_at FROM onerow_job_archive WHERE id = {job}`}, nil},
	"a job is not there":        {check.Jobs, check.Lost, []string{`DELETE FROM onerow_job_archive WHERE id = {job}`}, nil},
	"a count is too low":        {check.Jobs, check.Lost, []string{`UPDATE onerow_job_count SET deleted_rows = deleted_rows - 1 WHERE job_id = {job} AND table_name = 'screen'`}, nil},
	"a count is too high":       {check.Jobs, check.Doubled, []string{`UPDATE onerow_job_count SET deleted_rows = deleted_rows + 1 WHERE job_id = {job} AND table_name = 'screen'`}, nil},
	"a flag is wrong":           {check.Quotas, check.WrongFlag, []string{`UPDATE project SET is_over_quota = 1 - is_over_quota WHERE id = {plain}`}, nil},
	"a mark is left":            {check.Quotas, check.Stuck, []string{`INSERT INTO onerow_quota_mark (resource, owner, created_at) VALUES ('project', '99', NOW())`}, nil},
	"a limit was lost":          {check.Quotas, check.Lost, []string{`UPDATE soak_user SET max_projects = 2 WHERE id = 99`}, nil},
	"an effect was lost":        {check.OneCommit, check.Lost, []string{`DELETE FROM soak_effect` + oneKey}, nil},
	"an effect without its key": {check.OneCommit, check.Doubled, []string{`DELETE FROM onerow_key WHERE operation = 'charge' AND status = 'complete' ORDER BY idem_key LIMIT 1`}, nil},
	"an effect happened twice":  {check.OneCommit, check.Doubled, []string{`INSERT INTO soak_effect (kind, idem_key, value, token) SELECT kind, idem_key, value, token FROM soak_effect` + oneKey}, nil},
	"a failed call had effect":  {check.OneCommit, check.Doubled, nil, told(journal.Failed, op(journal.Do))},
	"an effect was another":     {check.OneCommit, check.Duplicate, []string{`UPDATE soak_effect SET value = 'other'` + oneKey}, nil},
	"a key in progress":         {check.OneCommit, check.Stuck, []string{`UPDATE onerow_key SET status = 'in_progress' WHERE operation = 'charge' ORDER BY idem_key LIMIT 1`}, nil},
	"a stored error was lost":   {check.OneCommit, check.Lost, []string{`UPDATE onerow_key SET status = 'released' WHERE operation = 'charge' AND status = 'error'`}, nil},
	"a completion was lost":     {check.TwoSteps, check.Lost, []string{`DELETE FROM soak_effect WHERE kind = 'ship' AND idem_key = 'known'`}, nil},
	"a claim was lost":          {check.TwoSteps, check.Lost, []string{`DELETE FROM soak_effect WHERE idem_key = 'known'`, `DELETE FROM onerow_key WHERE idem_key = 'known'`}, nil},
	"a token went back":         {check.TwoSteps, check.Lost, []string{`UPDATE onerow_key SET token = 1 WHERE idem_key = 'known'`}, nil},
	"a zombie wrote":            {check.TwoSteps, check.Doubled, []string{`UPDATE onerow_key SET token = token + 1 WHERE idem_key = 'known'`}, nil},
	"both holders wrote":        {check.TwoSteps, check.Doubled, []string{`INSERT INTO soak_effect (kind, idem_key, value, token) VALUES ('ship', 'known', 'done', 7)`}, nil},
	"a token was given twice": {check.TwoSteps, check.Duplicate, nil, again(
		func(e journal.Entry) bool { return e.Op == journal.Begin && e.Key == "known" }, func(*journal.Entry) {})},
	"another result was replayed": {check.TwoSteps, check.Duplicate, nil, again(
		func(e journal.Entry) bool { return e.Op == journal.Complete && e.Key == "known" }, func(e *journal.Entry) { e.Value = "other" })},
	"a lease nobody took over": {check.TwoSteps, check.Stuck, []string{`UPDATE onerow_key SET status = 'in_progress' WHERE idem_key = 'known'`}, nil},
	"a claim is gone":          {check.Serials, check.Lost, []string{`DELETE FROM onerow_serial_claim` + anyTicket}, nil},
	"a business row is gone":   {check.Serials, check.Orphaned, []string{`DELETE FROM soak_ticket` + anyTicket}, nil},
	"numbers without a claim":  {check.Serials, check.Orphaned, []string{`INSERT INTO soak_ticket (series, claim_key, from_no, to_no) VALUES ('invoice', 'x', 1000000, 1000001)`}, nil},
	"a business row twice": {check.Serials, check.Doubled, []string{`INSERT INTO soak_ticket (series, claim_key, from_no, to_no)
  SELECT series, claim_key, from_no, to_no FROM soak_ticket` + anyTicket}, nil},
	"numbers were given twice":     {check.Serials, check.Duplicate, []string{anotherClaim}, nil},
	"a number is missing":          {check.Serials, check.Lost, []string{anotherClaim}, nil},
	"a failed claim has numbers":   {check.Serials, check.Doubled, nil, told(journal.Refused, op(journal.Claim))},
	"a claim key has two answers":  {check.Serials, check.Duplicate, nil, again(op(journal.Claim), func(e *journal.Entry) { e.Value = "7-6" })},
	"a message was applied twice":  {check.Streams, check.Doubled, []string{`INSERT INTO soak_applied (stream, seq, amount) SELECT stream, seq, amount FROM soak_applied ORDER BY id LIMIT 1`}, nil},
	"a message was lost":           {check.Streams, check.Lost, []string{`DELETE FROM soak_applied ORDER BY id LIMIT 1`}, nil},
	"a failed message was applied": {check.Streams, check.Doubled, nil, told(journal.Failed, op(journal.Apply))},
	"a message has two appliers": {check.Streams, check.Duplicate, nil, again(
		func(e journal.Entry) bool { return e.Op == journal.Apply && e.Changed }, func(*journal.Entry) {})},
}

// TestPlanted: nothing is found after a real load, and each planted violation is found where it belongs.
// Every cell of the table that is not a dash has a plant.
func TestPlanted(t *testing.T) {
	w := newWorld(t)
	found, err := check.Run(t.Context(), w.db, w.entries)
	if err != nil || len(found) > 0 {
		t.Fatalf("%v; in a sound world: %v", err, found)
	}
	covered := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(plants)) {
		p := plants[name]
		covered[fmt.Sprint(p.promise, p.column)] = true
		t.Run(name, func(t *testing.T) { w.find(t, p) })
	}
	for _, row := range check.Promises {
		for _, column := range row.Columns {
			if !covered[fmt.Sprint(row.Name, column)] {
				t.Errorf("nothing shows that %s: %s is found", row.Name, check.Columns[column])
			}
		}
	}
}

// find plants a violation in a transaction, looks for it, and rolls it back.
func (w *world) find(t *testing.T, p plant) {
	tx, err := w.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	for _, stmt := range p.sql {
		for name, id := range w.ids {
			stmt = strings.ReplaceAll(stmt, "{"+name+"}", fmt.Sprint(id))
		}
		res, err := tx.ExecContext(t.Context(), stmt)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := res.RowsAffected(); n == 0 || err != nil {
			t.Fatalf("it changes nothing (%v): %s", err, stmt)
		}
	}
	entries := w.entries
	if p.history != nil {
		entries = p.history(entries)
	}
	found, err := check.Run(t.Context(), tx, entries)
	if err != nil {
		t.Fatal(err)
	}
	if check.Counts(found)[p.promise][p.column] == 0 {
		t.Errorf("it is not found as %s: %s, but: %v", p.promise, check.Columns[p.column], found)
	}
}

// TestUnknown: what is unknown is no finding, whether it was done or not.
func TestUnknown(t *testing.T) {
	w := newWorld(t)
	unknown := func(e journal.Entry) bool {
		switch e.Op { // what is an answer of its own is judged apart
		case journal.Create, journal.Do, journal.Claim, journal.Apply, journal.Rename, journal.Update, journal.Archive, journal.Activate:
			return e.Key == "plain" || e.Start%2 == 0
		}
		return false
	}
	entries := w.entries
	for i := range entries {
		if unknown(entries[i]) && entries[i].Result == journal.OK {
			entries[i].Result, entries[i].End = journal.Unknown, journal.Never
		}
	}
	found, err := check.Run(t.Context(), w.db, entries)
	if err != nil || len(found) > 0 {
		t.Errorf("%v; %v", err, found)
	}
	w.exec(`DELETE FROM onerow_request WHERE resource = ? AND request_id = 'plain'`, load.ProjectResource)
	w.exec(`DELETE FROM project WHERE id = ?`, w.ids["plain"])
	if found, err = check.Run(t.Context(), w.db, entries); err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Promise == check.Creates {
			t.Errorf("an unknown create that was not done: %v", f)
		}
	}
}
