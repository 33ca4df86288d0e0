package verify

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
)

// counter is an AUTO_INCREMENT column, and where its values are kept after their rows have left. The server
// only knows of the rows that are there: a table that was rebuilt by a copy, or of which the data alone was
// restored, gives ids a second time.
type counter struct {
	table, column string
	toolkits      bool
	kept          []idKept
}

type idKept struct{ table, column string }

// wantCounters are those of a plan and of the toolkit: the ids of jobs are in their archive and
// counts, those of deletions in the jobs.
func (d *seen) wantCounters(plan schema.Plan) []counter {
	var all []counter
	for _, n := range plan.Nodes() {
		for _, column := range n.Key {
			t := d.Table(n.Tables[0])
			if len(n.Tables) > 1 && t.IsTable() && t.Column(column).AutoIncrements() && d.Table(n.Tables[1]).IsTable() {
				all = append(all, counter{n.Tables[0], column, false, []idKept{{n.Tables[1], column}}})
			}
		}
	}
	for _, c := range []counter{
		{"onerow_job", "id", true, []idKept{{"onerow_job_archive", "id"}, {"onerow_job_count", "job_id"}, {"onerow_job_plan", "job_id"},
			{"onerow_job_detached", "job_id"}, {"onerow_parked", "job_id"}}},
		{"onerow_deletion", "id", true, []idKept{{"onerow_job", "deletion_id"}, {"onerow_job_archive", "deletion_id"}}},
	} {
		if t := d.Table(c.table); t.IsTable() && t.Column(c.column).AutoIncrements() {
			all = append(all, c)
		}
	}
	return all
}

// sqlHighest reads one row at the end of an index that begins with the column; a counter's
// values are read nowhere else. No lock.
const sqlHighest = "SELECT MAX(%s) FROM %s"

// sqlLatest is for the ids of deletions, which no index begins with: a deletion has its id a moment before
// its job has one, so the last jobs hold the highest. 100 rows at the end of the primary key. No lock.
const sqlLatest = "SELECT MAX(deletion_id) FROM (SELECT deletion_id FROM %s ORDER BY id DESC LIMIT 100) AS latest"

// highestSQL is the query, or "" where the column is not there or nothing makes it cheap.
func (d *seen) highestSQL(k idKept) string {
	t := d.Table(k.table)
	switch {
	case !t.IsTable() || t.Column(k.column) == nil || dict.IntegerSize(t.Column(k.column).Data) == 0:
		return ""
	case k.column == ident.ColDeletionID:
		if slices.Equal(t.Primary(), []string{"id"}) {
			return fmt.Sprintf(sqlLatest, ident.Quote(t.Name))
		}
		return ""
	case slices.ContainsFunc(t.Indexes, func(x dict.Index) bool { return x.Leads(colset.Lower([]string{k.column}), nil) >= 0 }):
		return fmt.Sprintf(sqlHighest, ident.Quote(k.column), ident.Quote(t.Name))
	}
	return ""
}

// readCounters reads the ids first and the counters after them: what is made in between is
// below the counter. One statement for all ids, or one each if the user may not read all of them.
func (d *seen) readCounters(ctx context.Context, db onerow.DB, plan schema.Plan) error {
	d.counters, d.highest, d.unread = map[string]uint64{}, map[idKept]uint64{}, map[string]bool{}
	counters := d.wantCounters(plan)
	var kept []idKept
	var queries []string
	for _, c := range counters {
		for _, k := range c.kept {
			if query := d.highestSQL(k); query != "" {
				queries = append(queries, fmt.Sprintf("SELECT %d, (%s)", len(kept), query))
				kept = append(kept, k)
			}
		}
	}
	if d.counted = len(kept) > 0; !d.counted {
		return nil
	}
	err := d.readHighest(ctx, db, kept, strings.Join(queries, " UNION ALL "))
	if dict.Denied(err) {
		for i, query := range queries {
			if err = d.readHighest(ctx, db, kept, query); dict.Denied(err) {
				d.unread[kept[i].table], err = true, nil
			}
			if err != nil {
				return err
			}
		}
	}
	if err != nil {
		return err
	}
	return d.readNext(ctx, db, counters)
}

func (d *seen) readHighest(ctx context.Context, db onerow.DB, kept []idKept, query string) error {
	return onerow.Query(ctx, db, query, nil, func(rows *sql.Rows) error {
		var i int
		var id sql.NullString // up to 2^64 - 1
		if err := rows.Scan(&i, &id); err != nil {
			return err
		}
		n, err := strconv.ParseUint(id.String, 10, 64)
		if err != nil {
			n = 0 // NULL, or below zero, which no counter reaches
		}
		d.highest[kept[i]] = n
		return nil
	})
}

// sqlNext is live on MariaDB. MySQL has it from a cache of up to a day; of what is shown to
// every user only SHOW CREATE TABLE is live there.
const sqlNext = `SELECT table_name, COALESCE(auto_increment, 0) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name IN (`

// nextID stands on the line behind the columns, before any text that a person chose. It is left out
// while it is 1.
var nextID = regexp.MustCompile("\n\\)(?: /\\*!50100 TABLESPACE `[^`]*` \\*/)? ENGINE=\\w+(?: AUTO_INCREMENT=(\\d+))?")

func (d *seen) readNext(ctx context.Context, db onerow.DB, counters []counter) error {
	if d.IsMariaDB() {
		var names []any
		for _, c := range counters {
			names = append(names, d.Table(c.table).Name)
		}
		return onerow.Query(ctx, db, sqlNext+ident.Params(len(names))+")", names, func(rows *sql.Rows) error {
			var table string
			var next uint64
			err := rows.Scan(&table, &next)
			d.counters[d.Key(table)] = next
			return err
		})
	}
	for _, c := range counters {
		name := d.Table(c.table).Name
		create, err := d.Create(ctx, db, name)
		if err != nil {
			return err
		}
		if found := nextID.FindStringSubmatch(create); found != nil {
			d.counters[d.Key(name)] = 1
			if n, err := strconv.ParseUint(found[1], 10, 64); err == nil {
				d.counters[d.Key(name)] = n
			}
		}
	}
	return nil
}

// counters reports counters that would give an id again. A row that gets the id of one that is archived, or
// of an open deletion, is taken for it.
func (v *verifier) counters(plan schema.Plan) {
	if !v.found.counted {
		return
	}
	for _, c := range v.found.wantCounters(plan) {
		next, read := v.found.counters[v.found.Key(c.table)]
		var top idKept
		for _, k := range c.kept {
			if v.found.unread[k.table] && !c.toolkits {
				v.unreadCounter(c, k.table, fmt.Sprintf("its highest %s may not be read, so nobody knows whether %q gives it again", k.column, c.table))
			}
			if v.found.highest[k] > v.found.highest[top] {
				top = k
			}
		}
		switch {
		case !read && !c.toolkits: // rights on toolkit tables are what VerifyPrivileges looks at
			v.unreadCounter(c, c.table, "its AUTO_INCREMENT may not be read, so nobody knows whether it gives ids again that its archive holds")
		case read && top != (idKept{}) && next <= v.found.highest[top]:
			v.counterBehind(c, top, next)
		case read:
			v.counterAtEnd(c, next)
		}
	}
}

func (v *verifier) unreadCounter(c counter, table, problem string) {
	v.report(CounterHidden, Difference{Table: table, Column: c.column, Problem: problem, Fix: "GRANT SELECT on the whole table to the user that verifies"}, "")
}

func (v *verifier) counterBehind(c counter, k idKept, next uint64) {
	t, highest := v.found.Table(c.table), v.found.highest[k]
	d := Difference{Table: t.Name, Column: c.column,
		Problem: fmt.Sprintf("AUTO_INCREMENT is %d, and %q holds the %s %d: ids are given again, and a new row is taken for the one that had its id before", next, k.table, k.column, highest)}
	if id := t.Column(c.column); highest >= id.MaxValue()-1 {
		d.Fix = fmt.Sprintf(lastID, id.Full)
		v.report(CounterSpent, d, "")
		return
	}
	v.report(CounterBehind, d, fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", ident.Quote(t.Name), highest+1))
}

const lastID = "it is the last id that %s holds: give the column, and each that refers to it, a wider type"

// counterAtEnd reports a counter that has reached the end of its type: a server does not count on from there,
// and gives the last id again as soon as no row of the table has it.
func (v *verifier) counterAtEnd(c counter, next uint64) {
	t := v.found.Table(c.table)
	id := t.Column(c.column)
	if dict.IntegerSize(id.Data) == 0 || next < id.MaxValue() {
		return
	}
	v.report(CounterSpent, Difference{Table: t.Name, Column: c.column, Fix: fmt.Sprintf(lastID, id.Full),
		Problem: fmt.Sprintf("AUTO_INCREMENT is %d: that id is the last, and given again once its row has been archived: a new row is taken for the archived one", next)}, "")
}
