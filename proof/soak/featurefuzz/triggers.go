package featurefuzz

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/onerow/onerow/internal/ident"
)

// brokenCheck is the name of the CHECK that rows break.
const brokenCheck = "broken_check"

// beside are tables that only triggers know.
var beside = []string{
	"CREATE TABLE f_log (of_table INT NOT NULL, n INT NOT NULL, what CHAR(6) NOT NULL) ENGINE=InnoDB",
	"CREATE TABLE f_count (of_table INT NOT NULL PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB",
	"CREATE TABLE f_switch (refuses INT NOT NULL) ENGINE=InnoDB",
	"INSERT INTO f_switch VALUES (1)",
}

// trigger is one that is made when the rows are there.
type trigger struct {
	table *table
	text  string // how CREATE TRIGGER goes on behind the name
	known bool   // the plan accepts it
	name  string
}

// triggered draws the triggers, and has the plan accept them.
func (w *world) triggered() (list []trigger) {
	add := func(feature string, known bool, texts ...string) {
		if !w.has[feature] {
			return
		}
		t := w.tables[w.at[feature]]
		for _, text := range texts {
			list = append(list, trigger{t, fmt.Sprintf(text, ident.Quote(t.name)), known, w.some("trigger")})
		}
	}
	at := func(feature string) int { return w.at[feature] }
	for _, e := range [][2]string{{"DELETE", "OLD"}, {"INSERT", "NEW"}, {"UPDATE", "NEW"}} {
		add(ofLog, true, "AFTER "+e[0]+" ON %s FOR EACH ROW INSERT INTO f_log VALUES ("+fmt.Sprint(at(ofLog))+", "+e[1]+".n, '"+strings.ToLower(e[0])+"')")
	}
	add(ofCount, true, fmt.Sprintf("BEFORE DELETE ON %%s FOR EACH ROW UPDATE f_count SET n = n - 1 WHERE of_table = %d", at(ofCount)),
		fmt.Sprintf("BEFORE INSERT ON %%s FOR EACH ROW UPDATE f_count SET n = n + 1 WHERE of_table = %d", at(ofCount)))
	const signal = "THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not this one'; END IF; END"
	add(ofRefuseDelete, true, fmt.Sprintf("BEFORE DELETE ON %%s FOR EACH ROW BEGIN IF OLD.touched = %d %s", refused, signal))
	add(ofRefuseInsert, true, fmt.Sprintf("BEFORE INSERT ON %%s FOR EACH ROW BEGIN IF NEW.touched = %d AND (SELECT MAX(refuses) FROM f_switch) = 1 %s", refused, signal))
	add(ofUnaccepted, false, []string{"AFTER DELETE ON %s FOR EACH ROW DELETE FROM f_log", "BEFORE INSERT ON %s FOR EACH ROW SET NEW.touched = 7"}[w.r.IntN(2)])
	if w.has[ofTouch] {
		t := w.tables[at(ofTouch)]
		others := w.siblings(t)
		text := fmt.Sprintf("BEFORE INSERT ON %s FOR EACH ROW SET NEW.touched = IF(NEW.touched = %d, NEW.touched, 777)", ident.Quote(t.name), refused)
		list = append(list, trigger{t, text, true, w.some("trigger")})
		for _, other := range others {
			text := fmt.Sprintf("AFTER DELETE ON %s FOR EACH ROW UPDATE %s SET touched = touched + 100 WHERE %s AND touched <> %d", ident.Quote(t.name), ident.Quote(other.name), sameUp(t, other), refused)
			list = append(list, trigger{t, text, true, w.some("trigger")})
		}
	}
	if w.has[ofSiblings] {
		b := w.tables[at(ofSiblings)]
		a := w.tables[at(ofSiblings)-1]
		text := fmt.Sprintf("AFTER DELETE ON %s FOR EACH ROW DELETE FROM %s WHERE %s", ident.Quote(a.name), ident.Quote(b.name), sameUp(a, b))
		list = append(list, trigger{a, text, true, w.some("trigger")})
	}
	for _, tr := range list {
		if tr.known {
			tr.table.accepted = append(tr.table.accepted, tr.name)
		}
	}
	if w.has[ofGoneTrigger] {
		t := w.tables[at(ofGoneTrigger)]
		t.accepted = append(t.accepted, "nowhere")
	}
	return list
}

// siblings are other tables below the same one.
func (w *world) siblings(t *table) (list []*table) {
	for _, other := range w.tables {
		if other != t && other.parent != nil && other.parent == t.parent {
			list = append(list, other)
		}
	}
	return list
}

// sameUp is the condition that a row of the other table is below the same row as the old row of t.
func sameUp(t, other *table) string {
	var all []string
	for i, p := range t.edge {
		all = append(all, ident.Quote(other.edge[i].name)+" = OLD."+ident.Quote(p.name))
	}
	return strings.Join(all, " AND ")
}

// createTriggers makes them, with what they write to.
func (w *world) createTriggers(ctx context.Context, db *sql.DB) error {
	list := beside
	for i, t := range w.tables {
		list = append(list[:len(list):len(list)], fmt.Sprintf("INSERT INTO f_count VALUES (%d, %d)", i, len(t.rows)))
	}
	for _, tr := range w.triggers {
		list = append(list, "CREATE TRIGGER "+ident.Quote(tr.name)+" "+tr.text)
	}
	for _, query := range list {
		if err := exec(ctx, db, query); err != nil {
			return err
		}
	}
	return nil
}

// breakCheck adds a CHECK to rows that break it, as a session may that checks none.
func (w *world) breakCheck(ctx context.Context, db *sql.DB) error {
	t := w.tables[w.at[ofBrokenCheck]]
	query := fmt.Sprintf("SET STATEMENT check_constraint_checks = 0, system_versioning_alter_history = KEEP FOR ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s <> %d)", ident.Quote(t.name), brokenCheck, colTouched, refused)
	return exec(ctx, db, query)
}

// relent has nothing refused any more.
func (w *world) relent(ctx context.Context, db *sql.DB) error {
	err := exec(ctx, db, "UPDATE f_switch SET refuses = 0")
	if err == nil && w.has[ofBrokenCheck] {
		err = exec(ctx, db, "SET STATEMENT system_versioning_alter_history = KEEP FOR ALTER TABLE "+ident.Quote(w.tables[w.at[ofBrokenCheck]].name)+" DROP CONSTRAINT "+brokenCheck)
	}
	return err
}
