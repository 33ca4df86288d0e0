package main

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/schematest"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var tiny = public{name: "tiny", deletes: true}

// TestTiny has a schema of our own on trial, as the command has others'.
func TestTiny(t *testing.T) {
	for seed := range uint64(2) {
		r, err := try(t.Context(), dbtest.Server(t), options{dir: "testdata", rows: 12, each: 4, seed: seed, part: 1, parts: 1}, tiny)
		if err != nil {
			t.Fatal(err)
		}
		if r.tables != 4 || r.keys != 6 || r.sum.roots != 16 || r.sum.deleted <= 16 || r.sum.detached == 0 {
			t.Errorf("%d tables, %d keys, %+v", r.tables, r.keys, r.sum)
		}
		if q := r.byName; q.declared != 6 || q.found+len(q.missed) != 6 || q.found == 0 {
			t.Errorf("%+v", q)
		}
	}
}

// TestParts: the parts have each root once.
func TestParts(t *testing.T) {
	var sum int
	for part := range 3 {
		r, err := try(t.Context(), dbtest.Server(t), options{dir: "testdata", rows: 5, each: 1, seed: 4, part: part + 1, parts: 3}, tiny)
		if err != nil {
			t.Fatal(err)
		}
		sum += r.sum.roots
	}
	if sum != 4 {
		t.Errorf("%d roots of 4", sum)
	}
}

// TestFails: what nobody has deleted, or brings back, is found.
func TestFails(t *testing.T) {
	script, err := os.ReadFile("testdata/tiny.sql")
	if err != nil {
		t.Fatal(err)
	}
	defined, _ := definitions(string(script))
	db, err := load(t.Context(), dbtest.Server(t), "public_fails", defined)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = db.Close(), dbtest.Server(t).DropDatabase(t.Context(), "public_fails") }()
	for _, s := range []string{"SET time_zone = '+00:00'", "INSERT INTO team (id, code) VALUES (1, 'a'), (2, 'b'), (3, 'c')",
		"INSERT INTO player (team_id, no, player_id) VALUES (1, 1, 11), (2, 1, 21)", "UPDATE team SET captain_id = 11 WHERE id = 3"} {
		dbtest.Exec(t, db, s)
	}
	c, err := readCatalog(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	trial, err := newTrial(t.Context(), db, c, []string{"team", "player", "goal", "last one"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	run := func(root int) string {
		lines, err := trial.run(t.Context(), trial.whole, place{"team", root}, &tally{})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(lines, "\n")
	}
	if said := run(0); said != "" {
		t.Errorf("nothing is wrong: %s", said)
	}
	dbtest.Exec(t, db, "INSERT INTO player (team_id, no, player_id) VALUES (1, 2, 12)")
	if said := run(0); !strings.Contains(said, "has deleted map[player:2], the oracle map[player:1]") || !strings.Contains(said, "player: is there, should not be") {
		t.Errorf("a row that the oracle does not know: %s", said)
	}
	dbtest.Exec(t, db, "DELETE FROM player WHERE player_id IN (12, 21)")
	if said := run(0); !strings.Contains(said, "player: should be there, is not") {
		t.Errorf("a row that is gone: %s", said)
	}
	for i, k := range trial.whole.oracle.keys {
		if k.Child == "player" {
			trial.whole.oracle.actions[i] = schema.OnDeleteDetach
		}
	}
	if said := run(0); !strings.Contains(said, "the oracle map[]") {
		t.Errorf("an oracle that follows less: %s", said)
	}
}

// TestOracle: what is below a row by keys that delete goes, and what refers to one of those is detached.
func TestOracle(t *testing.T) {
	null := sql.NullString{}
	is := func(s string) sql.NullString { return sql.NullString{String: s, Valid: true} }
	contents := func(key int, columns string, rows ...schematest.Row) *schematest.Contents {
		names := strings.Fields(columns)
		c := &schematest.Contents{Columns: names, Key: names[:key], Nullable: make([]bool, len(names)), Rows: rows}
		for i := key; i < len(names); i++ {
			c.Nullable[i] = true
		}
		return c
	}
	before := schematest.Snapshot{
		"a": contents(1, "id up", schematest.Row{is("1"), is("2")}, schematest.Row{is("2"), is("1")}, schematest.Row{is("3"), null}),
		"b": contents(2, "a n", schematest.Row{is("1"), is("1")}, schematest.Row{is("3"), is("1")}),
		"c": contents(1, "id a n", schematest.Row{is("7"), is("1"), is("1")}, schematest.Row{is("8"), is("3"), is("1")}, schematest.Row{is("9"), is("1"), null}),
	}
	keys := []schematest.ForeignKey{
		{Child: "a", Parent: "a", Columns: []string{"up"}, References: []string{"id"}, Rule: "RESTRICT"},
		{Child: "b", Parent: "a", Columns: []string{"a"}, References: []string{"id"}, Rule: "CASCADE"},
		{Child: "c", Parent: "b", Columns: []string{"a", "n"}, References: []string{"a", "n"}, Rule: "SET NULL"},
	}
	plan := schema.Plan{Tables: []schema.Table{
		{Name: "a", Key: []string{"id"}, Parents: []schema.Edge{{Table: "a", Columns: []string{"up"}}}},
		{Name: "b", Key: []string{"a", "n"}, Parents: []schema.Edge{{Table: "a", Columns: []string{"a"}}}},
		{Name: "c", Key: []string{"id"}, Stays: true, Parents: []schema.Edge{{Table: "b", Columns: []string{"a", "n"}, OnDelete: schema.OnDeleteDetach}}},
	}}
	o, err := newOracle(before, keys, plan)
	if err != nil {
		t.Fatal(err)
	}
	out := o.of(place{"a", 0})
	if !maps.Equal(out.deleted, map[string]int64{"a": 2, "b": 1}) || !maps.Equal(out.detached, map[string]int64{"c": 1}) {
		t.Errorf("%v, %v", out.deleted, out.detached)
	}
	if got := fmt.Sprint(out.after["a"].Rows, out.after["b"].Rows, out.after["c"].Rows); got != `[("3", NULL)] [("3", "1")] [("7", NULL, NULL) ("8", "3", "1") ("9", "1", NULL)]` {
		t.Error(got)
	}
	plan.Tables[2].Parents[0].OnDelete = schema.OnDeleteDelete
	if _, err := newOracle(before, keys, plan); err == nil {
		t.Error("SET NULL, and the plan deletes")
	}
	plan.Tables[1].Parents = nil
	if _, err := newOracle(before, keys, plan); err == nil {
		t.Error("the plan lacks an edge")
	}
}

func TestSplit(t *testing.T) {
	script, err := os.ReadFile("testdata/tiny.sql")
	if err != nil {
		t.Fatal(err)
	}
	run, out := definitions(string(script))
	var begin []string
	for _, s := range run {
		begin = append(begin, strings.Join(strings.Fields(s)[:3], " "))
	}
	want := []string{"SET sql_mode =", "CREATE TABLE team", "CREATE TABLE player", "CREATE TABLE goal", "ALTER TABLE team", "CREATE INDEX goal_scored", `CREATE TABLE "last`}
	if !slices.Equal(begin, want) || !maps.Equal(out, map[string]int{"trigger": 1, "insert": 1}) {
		t.Errorf("%q, %v", begin, out)
	}
	for script, want := range map[string][]string{
		"a;b":                                   {"a", "b"},
		"a ';' \"\\\";\" `;` 'it''s;';b":        {"a ';' \"\\\";\" `;` 'it''s;'", "b"},
		"a -- ;\n b # ;\n /* ; */ c --1;":       {"a   b     c --1"},
		"/*! a; */; b":                          {"/*! a; */", "b"},
		" delimiter //\nx;y//\nDELIMITER ;\nz;": {"x;y", "z"},
		"a 'open;":                              {"a 'open;"},
		"--":                                    nil,
	} {
		if got := split(script); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", script, got, want)
		}
	}
}

// TestUndeclared: each has a reason.
func TestUndeclared(t *testing.T) {
	for name, list := range undeclared {
		for _, s := range list {
			if len(list) < 5 || s.table == "" || s.column == "" || s.to == "" || s.references == "" || s.why == "" {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}
