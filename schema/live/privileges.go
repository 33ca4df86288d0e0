package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/migrations/ddl"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
)

// Privilege is what a worker must be allowed to do with one table.
type Privilege struct {
	// Table is the table's name.
	Table string `json:"table"`
	// Rights are what GRANT calls them: "SELECT", "UPDATE (`parent_id`)".
	Rights []string `json:"rights"`

	rights []right
}

// right is one of the rights and the columns by which it is proved.
type right struct {
	verb    string
	columns []string
	some    bool // it is needed for these columns only
	moves   bool // of UPDATE: it is needed for columns that change by themselves, too
}

func (r right) text() string {
	if r.some {
		return r.verb + " (" + ident.Quotes(r.columns...) + ")"
	}
	return r.verb
}

// Grant returns the statement that gives the privilege on the table of a database to a user, "app@10.0.0.%".
// Without a host it is any host.
func (p Privilege) Grant(database, user string) string { return p.grant(database, grantee(user)) }

func (p Privilege) grant(database, grantee string) string {
	return fmt.Sprintf("GRANT %s ON %s.%s TO %s", strings.Join(p.Rights, ", "), ident.Quote(database), ident.Quote(p.Table), grantee)
}

// grantee returns a user in SQL's words: 'app'@'10.0.0.%'.
func grantee(user string) string {
	name, host := user, "%"
	if at := strings.LastIndex(user, "@"); at >= 0 {
		name, host = user[:at], user[at+1:]
	}
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'" }
	return quote(name) + "@" + quote(host)
}

func privilege(table string, rights ...right) Privilege {
	p := Privilege{Table: table, rights: rights}
	for _, r := range rights {
		p.Rights = append(p.Rights, r.text())
	}
	return p
}

// Privileges are the least rights with which a worker works the jobs of a plan: to
// read and delete the rows of its tables, to detach where the plan detaches, and to keep
// its queue. Putting jobs into the queue, retrying, pausing and looking need no
// more. Undoing a deletion does: INSERT on the tables to which rows return; so does a restore, see
// [RestorePrivileges].
//
// No right is needed to lock rows: SELECT … FOR UPDATE asks for one of UPDATE, DELETE
// and LOCK TABLES on MySQL, and only those rows are locked that are deleted.
func Privileges(plan schema.Plan) []Privilege {
	retains := false
	all := onTables(plan, func(n schema.Node, i int, read []string) []right {
		columns := slices.Clone(read)
		if n.Managed {
			columns = append(columns, ident.ColCreatedAt)
		}
		if n.Managed && i > 0 {
			columns = append(columns, ident.ColDeletionID)
		}
		if slices.Contains(n.Retained, n.Tables[i]) {
			columns, retains = append(columns, n.Retention.Column), true
		}
		rights := []right{{verb: "SELECT", columns: columns}}
		if !n.Stays {
			rights = append(rights, right{verb: "DELETE", columns: n.Key})
		}
		var detached []string
		for _, e := range n.Parents {
			if e.OnDelete.Detaches() || e.OnDelete == schema.OnDeleteDelete && e.Table == n.Name {
				detached = append(detached, colset.Lower(n.DetachColumns(e))...)
			}
		}
		if slices.Sort(detached); len(detached) > 0 { // with a trash, times that move by themselves are held as well
			rights = append(rights, right{verb: "UPDATE", columns: slices.Compact(detached), some: n.Trash == 0, moves: n.Trash > 0})
		}
		return rights
	}, "SELECT", "INSERT", "DELETE")
	if retains {
		all = append(all, onToolkit(map[string][]string{"onerow_retention": {"SELECT", "INSERT", "UPDATE"}})...)
	}
	return append(all, toolkitPrivileges(plan)...)
}

// RestorePrivileges are the rights with which an operator brings back what a job has deleted and the plan has
// kept: rows return to their tables, references are set again, the row itself leaves the archive, and the job
// is held and ended. A worker's are not enough: it puts nothing into the plan's tables.
func RestorePrivileges(plan schema.Plan) []Privilege {
	all := onTables(plan, func(n schema.Node, i int, read []string) []right {
		returns := n.Managed && len(n.Tables) > 1
		rights := []right{{verb: "SELECT", columns: read}}
		if n.Trash > 0 || returns && i == 0 {
			rights = append(rights, right{verb: "INSERT", columns: n.Key})
		}
		switch {
		case returns && i > 0:
			rights = append(rights, right{verb: "UPDATE", columns: []string{ident.ColDeletionID}})
		case n.Trash > 0 && len(n.Parents) > 0:
			rights = append(rights, right{verb: "UPDATE", columns: n.Parents[0].Columns})
		}
		if returns { // it moves, and MySQL asks for this right to lock it
			rights = append(rights, right{verb: "DELETE", columns: n.Key})
		}
		return rights
	}, "SELECT", "DELETE")
	return append(all, toolkitPrivileges(plan)...)
}

// onTables returns the rights on each table of the plan, of which read are the columns that a cascade reads,
// and the verbs on its trash table.
func onTables(plan schema.Plan, rights func(n schema.Node, table int, read []string) []right, onTrash ...string) (all []Privilege) {
	nodes := plan.Nodes()
	for _, n := range nodes {
		read := dict.CascadeColumns(nodes, n)
		for i, table := range n.Tables {
			all = append(all, privilege(table, rights(n, i, read)...))
			if n.Trash <= 0 {
				continue
			}
			var kept []right
			for _, verb := range onTrash {
				kept = append(kept, right{verb: verb, columns: append([]string{ident.ColTrashJob, ident.ColTrashStep, ident.ColTrashLost}, n.Key...)})
			}
			all = append(all, privilege(ident.TrashTable(table), kept...))
		}
	}
	return all
}

// migrationTable is where package migrations notes what it has done; a worker looks before it begins.
const migrationTable = "onerow_goose_version"

// toolkitPrivileges are those for the queue; the tables of other workflows are none of the worker's.
func toolkitPrivileges(plan schema.Plan) []Privilege {
	verbs := map[string][]string{
		"onerow_deletion": {"SELECT", "INSERT"},
		"onerow_action":   {"SELECT", "INSERT"},
		"onerow_switch":   {"SELECT", "INSERT", "UPDATE"},
		"onerow_control":  {"SELECT", "INSERT", "UPDATE", "DELETE"},
		"onerow_plan":     {"SELECT", "INSERT", "UPDATE", "DELETE"},
	}
	for _, name := range []string{"onerow_job", "onerow_job_archive", "onerow_job_count", "onerow_job_plan", "onerow_job_detached",
		"onerow_parked", "onerow_worker", "onerow_trash"} {
		verbs[name] = []string{"SELECT", "INSERT", "UPDATE", "DELETE"}
	}
	for _, n := range plan.Nodes() {
		if n.Quota != "" {
			verbs["onerow_quota_mark"] = []string{"INSERT"}
		}
		if len(n.Limits) > 0 {
			verbs["onerow_limit"] = []string{"SELECT", "INSERT", "UPDATE"}
		}
	}
	return append(onToolkit(verbs), privilege(migrationTable, right{verb: "SELECT", columns: []string{"version_id", "is_applied"}}))
}

// PurgePrivileges are the least rights with which the toolkit's own tables are purged, those of other
// workflows too, where that is not the worker's already. A worker without them works.
func PurgePrivileges() []Privilege {
	verbs := map[string][]string{}
	for _, name := range []string{"onerow_deletion", "onerow_action", "onerow_request", "onerow_key", "onerow_admission", "onerow_key_audit",
		"onerow_flow_request", "onerow_flow_step", "onerow_stream_message"} {
		verbs[name] = []string{"SELECT", "DELETE"}
	}
	return onToolkit(verbs)
}

// onToolkit are rights on tables of the toolkit.
func onToolkit(verbs map[string][]string) []Privilege {
	var all []Privilege
	for _, t := range ddl.Tables() {
		var columns []string
		for _, c := range t.Columns {
			if !strings.Contains(c.Type, "AUTO_INCREMENT") {
				columns = append(columns, c.Name)
			}
		}
		var rights []right
		for _, verb := range verbs[t.Name] {
			rights = append(rights, right{verb: verb, columns: columns})
		}
		if len(rights) > 0 {
			all = append(all, privilege(t.Name, rights...))
		}
	}
	return all
}
