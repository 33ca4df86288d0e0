package live_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/schematest/livetest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// TestVerifyTables breaks a database of somebody else's, or its plan, in one way.
func TestVerifyTables(t *testing.T) {
	const byHand = ""
	same := func(*schema.Plan) {}
	// The same in both tables of a pair, or columns that do not fit a key that is not theirs.
	more := map[string]int{"another primary key": 5, "reference missing": 2, "reference not unique": 2, "text that refers to a number": 2, "unsigned": 2}
	for _, c := range []struct {
		name   string
		broken []string
		plan   func(*schema.Plan)
		table  string
		what   string
		says   string
		fix    string // a statement that mends it, or byHand
	}{
		{"missing", []string{"DROP TABLE grade"}, same, "grade", "", "it does not exist", byHand},
		{"a view", []string{"DROP TABLE grade", "CREATE VIEW grade AS SELECT 1 AS id, 'x' AS pupil"}, same, "grade", "", "it is a view", byHand},
		{"engine", []string{"ALTER TABLE note ENGINE=MyISAM"}, same, "note", "", "MyISAM", "ENGINE=InnoDB"},
		{"no primary key", []string{"ALTER TABLE grade DROP PRIMARY KEY"}, same, "grade", "PRIMARY", "it has no primary key", "ADD PRIMARY KEY (`id`)"},
		{"another primary key", nil, func(p *schema.Plan) { p.Tables[0].Key = []string{"no", "school"} }, "class", "PRIMARY", "the primary key is (school, no), the plan says (no, school)", byHand},
		{"key of no exact type", []string{"ALTER TABLE grade MODIFY id DOUBLE"}, same, "grade", "id", "the exact value of a double cannot be held", byHand},
		{"asset missing", []string{"ALTER TABLE note DROP COLUMN file"}, same, "note", "file", "it does not exist", byHand},
		{"edge column missing", []string{"ALTER TABLE grade DROP COLUMN pupil"}, same, "grade", "pupil", `the edge to "pupil" needs it`, byHand},
		{"condition missing", []string{"ALTER TABLE note DROP COLUMN kind"}, same, "note", "kind", "it does not exist", byHand},
		{"reference missing", nil, func(p *schema.Plan) { p.Tables[2].Parents[0].References = []string{"number"} }, "pupil", "number", `"grade" refers to it`, byHand},
		{"reference not unique", nil, func(p *schema.Plan) { p.Tables[2].Parents[0].References = []string{"friend"} }, "pupil", "", "of which no unique key makes sure", byHand},
		{"index missing", []string{"ALTER TABLE grade DROP KEY pupil"}, same, "grade", "", "no index begins with (pupil)", "ADD KEY (`pupil`)"},
		{"index missing in the archive", []string{"ALTER TABLE old_pupil DROP KEY class"}, same, "old_pupil", "", "no index begins with (school, class_no)", "ADD KEY (`school`, `class_no`)"},
		{"index of a part", []string{"ALTER TABLE pupil DROP KEY class, ADD KEY class (class_no, name, school)"}, same, "pupil", "", "no index begins with", "ADD KEY"},
		{"index without the condition", []string{"ALTER TABLE note DROP KEY about, ADD KEY about (file, kind, about)"}, same, "note", "", "no index begins with (kind, about)", "ADD KEY (`kind`, `about`)"},
		{"a prefix is no index", []string{"ALTER TABLE grade DROP KEY pupil, ADD KEY pupil (pupil(10))"}, same, "grade", "", "no index begins with (pupil)", "ADD KEY"},
		{"collation", []string{"ALTER TABLE grade MODIFY pupil VARCHAR(40) COLLATE utf8mb4_bin NOT NULL"}, same, "grade", "pupil", "compared by different rules", "COLLATE utf8mb4_unicode_ci NOT NULL"},
		{"character set", []string{"ALTER TABLE grade MODIFY pupil VARCHAR(40) CHARACTER SET latin1 NOT NULL"}, same, "grade", "pupil", "compared by different rules", byHand},
		{"text that refers to a number", []string{"ALTER TABLE pupil MODIFY class_no VARCHAR(10) NOT NULL", "ALTER TABLE old_pupil MODIFY class_no VARCHAR(10) NOT NULL"}, same, "pupil", "class_no", "converted before they are compared", byHand},
		{"unsigned", []string{"ALTER TABLE pupil MODIFY school INT NOT NULL", "ALTER TABLE old_pupil MODIFY school INT NOT NULL"}, same, "pupil", "school", "one of them is unsigned", byHand},
		{"detach what is not null", []string{"ALTER TABLE pupil MODIFY friend VARCHAR(40) COLLATE utf8mb4_unicode_ci NOT NULL"}, same, "pupil", "friend", "it is NOT NULL, and the plan detaches it", byHand},
		{"archive without a column", []string{"ALTER TABLE pupil ADD COLUMN age INT"}, same, "old_pupil", "age", "a row loses it when it moves", "ADD COLUMN `age` int"},
		{"archive with another key", []string{"ALTER TABLE old_pupil DROP PRIMARY KEY, ADD PRIMARY KEY (name, school)"}, same, "old_pupil", "PRIMARY", "the primary key is (name, school)", "DROP PRIMARY KEY, ADD PRIMARY KEY (`name`)"},
		{"archive of another type", []string{"ALTER TABLE old_pupil MODIFY friend VARCHAR(60) COLLATE utf8mb4_unicode_ci NULL"}, same, "old_pupil", "friend", "cannot look for the same value in both", byHand},
		{"trigger", []string{"CREATE TRIGGER tr AFTER DELETE ON grade FOR EACH ROW SET @x = 1"}, same, "grade", "", `the trigger "tr" runs after each delete`, byHand},
		{"trigger with updates", []string{"CREATE TRIGGER tr BEFORE UPDATE ON pupil FOR EACH ROW SET @x = 1"}, same, "pupil", "", "before each update", byHand},
		{"accepted trigger that is none", nil, func(p *schema.Plan) { p.Tables[2].Triggers = []string{"tr"} }, "grade", "", "has none of that name", byHand},
		{"edge unknown", []string{"ALTER TABLE note ADD CONSTRAINT fk FOREIGN KEY (grade_id) REFERENCES grade (id)"}, func(p *schema.Plan) { p.Tables[3].Parents = p.Tables[3].Parents[:1] }, "note", "fk", "no edge for this foreign key from (grade_id)", byHand},
		{"keep is not allowed", []string{"ALTER TABLE note ADD CONSTRAINT fk FOREIGN KEY (grade_id) REFERENCES grade (id)"}, same, "note", "fk", "the plan keeps rows whose (grade_id) refers to a row that is gone", byHand},
		{"cascade of what is kept", []string{"ALTER TABLE note ADD CONSTRAINT fk FOREIGN KEY (grade_id) REFERENCES grade (id) ON DELETE CASCADE"}, same, "note", "fk", "ON DELETE CASCADE", byHand},
		{"cascade of what is detached", []string{"ALTER TABLE pupil ADD CONSTRAINT fk FOREIGN KEY (friend) REFERENCES pupil (name) ON DELETE CASCADE"}, same, "pupil", "fk", "the plan detaches what the database would delete", byHand},
		{"set null of what is deleted", []string{"ALTER TABLE note ADD CONSTRAINT fk FOREIGN KEY (grade_id) REFERENCES grade (id) ON DELETE SET NULL"}, func(p *schema.Plan) { p.Tables[3].Parents[1].OnDelete = "" }, "note", "fk", "the plan deletes what the database would detach", byHand},
		{"condition on a key", []string{"ALTER TABLE note ADD CONSTRAINT fk FOREIGN KEY (about) REFERENCES pupil (name)"}, same, "note", "fk", "the plan's edge only some of them", byHand},
		{"restrict from outside", []string{"CREATE TABLE prize (id INT PRIMARY KEY, grade_id INT, CONSTRAINT fk FOREIGN KEY (grade_id) REFERENCES grade (id))"}, same, "grade", "fk", `rows of "prize" refer to it by (grade_id), and the plan does not know that table; they keep its rows`, byHand},
		{"hidden cascade", []string{"CREATE TABLE prize (id INT PRIMARY KEY, grade_id INT, CONSTRAINT fk FOREIGN KEY (grade_id) REFERENCES grade (id) ON DELETE CASCADE)"}, same, "grade", "fk", "ON DELETE CASCADE changes them in one unbounded statement", byHand},
		{"hidden set null", []string{"CREATE TABLE prize (id INT PRIMARY KEY, grade_id INT, CONSTRAINT fk FOREIGN KEY (grade_id) REFERENCES grade (id) ON DELETE SET NULL)"}, same, "grade", "fk", "ON DELETE SET NULL", byHand},
		{"rows with an asset go by themselves", []string{"CREATE TABLE box (id INT PRIMARY KEY)", "ALTER TABLE note ADD COLUMN box_id INT, ADD CONSTRAINT fk FOREIGN KEY (box_id) REFERENCES box (id) ON DELETE CASCADE"}, same, "note", "fk", "nobody counts", byHand},
		{"referenced by what is detached", []string{"ALTER TABLE pupil ADD UNIQUE KEY one_friend (friend)", "ALTER TABLE grade ADD COLUMN via VARCHAR(40) COLLATE utf8mb4_unicode_ci NULL, ADD CONSTRAINT fk FOREIGN KEY (via) REFERENCES pupil (friend) ON UPDATE CASCADE",
			"ALTER TABLE old_pupil ADD UNIQUE KEY (friend)"},
			func(p *schema.Plan) {
				p.Tables[2].Parents = append(p.Tables[2].Parents, schema.Edge{Table: "pupil", Columns: []string{"via"}, References: []string{"friend"}})
			}, "grade", "fk", "which becomes NULL when that row is detached", byHand},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, stmts := livetest.School()
			db := livetest.Bare(t, append(stmts, c.broken...)...)
			c.plan(&plan)
			found := livetest.Own(t, db, plan)
			i := slices.IndexFunc(found, func(d live.Difference) bool {
				return d.Table == c.table && d.Column+d.Index == c.what && strings.Contains(d.Problem, c.says)
			})
			if i < 0 || len(found) != max(1, more[c.name]) {
				t.Fatalf("%d differences:\n%v", len(found), found)
			}
			t.Log(found[i])
			if c.fix == byHand {
				return
			}
			if !strings.Contains(found[i].SQL, c.fix) {
				t.Errorf("the fix is %q, want %q", found[i].Fix, c.fix)
			}
			dbtest.Exec(t, db, found[i].SQL)
			for _, d := range livetest.Own(t, db, plan) {
				if d == found[i] {
					t.Errorf("after the fix: %v", d)
				}
			}
		})
	}
}

// TestVerifyTablesAllows: what does no harm, and what matches the plan.
func TestVerifyTablesAllows(t *testing.T) {
	plan, stmts := livetest.School()
	db := livetest.Migrated(t, append(stmts,
		"ALTER TABLE grade ADD FOREIGN KEY (pupil) REFERENCES pupil (name) ON DELETE CASCADE ON UPDATE CASCADE",
		"ALTER TABLE class ADD UNIQUE KEY (no, school)",
		"ALTER TABLE pupil ADD FOREIGN KEY (class_no, school) REFERENCES class (no, school)",
		"ALTER TABLE pupil ADD FOREIGN KEY (friend) REFERENCES pupil (name) ON DELETE SET NULL",
		"CREATE TABLE town (id INT PRIMARY KEY)",
		"ALTER TABLE class ADD COLUMN town INT, ADD FOREIGN KEY (town) REFERENCES town (id) ON DELETE CASCADE",
		"CREATE TRIGGER ins AFTER INSERT ON grade FOR EACH ROW SET @x = 1",
		"CREATE TRIGGER upd AFTER UPDATE ON grade FOR EACH ROW SET @x = 1",
		"CREATE TRIGGER del AFTER DELETE ON grade FOR EACH ROW SET @x = 1",
		"ALTER TABLE grade ADD COLUMN more TEXT, ADD KEY (more(10)), ADD COLUMN loud VARCHAR(50) AS (UPPER(pupil)) VIRTUAL",
		"ALTER TABLE note DROP KEY about, ADD KEY x (about, kind, id)",
	)...)
	plan.Tables[2].Triggers = []string{"del"}
	plan.Tables[3].Parents = append(plan.Tables[3].Parents, schema.Edge{Table: "grade", Columns: []string{"about"}, When: map[string]string{"kind": "grade"}})
	if err := live.Verify(t.Context(), db, plan); err != nil {
		t.Fatal(err)
	}
	// Rows that stay are not deleted, so nothing keeps them.
	dbtest.Exec(t, db, "CREATE TABLE kept (id INT PRIMARY KEY, grade_id INT NULL, FOREIGN KEY (grade_id) REFERENCES grade (id) ON DELETE SET NULL)")
	dbtest.Exec(t, db, "CREATE TABLE below (id INT PRIMARY KEY, kept_id INT NULL, FOREIGN KEY (kept_id) REFERENCES kept (id) ON DELETE CASCADE)")
	plan.Tables = append(plan.Tables, schema.Table{Name: "kept", Key: []string{"id"}, Stays: true, Parents: []schema.Edge{{Table: "grade", Columns: []string{"grade_id"}, OnDelete: schema.OnDeleteDetach}}})
	if err := live.Verify(t.Context(), db, plan); err != nil {
		t.Fatal(err)
	}
	plan.Tables[4].Stays = false
	if found := livetest.Differences(t, db, plan); len(found) != 1 || found[0].Table != "kept" {
		t.Error(found)
	}
}

// TestVerifyTimestamps: a TIMESTAMP that the plan takes for a DATETIME, or the reverse, is said.
func TestVerifyTimestamps(t *testing.T) {
	plan := schema.Plan{Resources: []schema.Resource{{Name: "visit", Archive: "visit_archive", Owner: "user_id",
		Columns: []schema.Column{{Name: "seen", Type: "timestamp(6) NULL"}, {Name: "due", Type: "DATETIME NULL"}, {Name: "note", Type: "TEXT"}}}}}
	db := livetest.Migrated(t)
	for _, stmt := range plan.DDL() {
		dbtest.Exec(t, db, stmt)
	}
	if err := live.Verify(t.Context(), db, plan); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "ALTER TABLE visit MODIFY seen DATETIME(6) NULL, MODIFY due TIMESTAMP NULL")
	dbtest.Exec(t, db, "ALTER TABLE visit_archive MODIFY seen DATETIME(6) NULL, MODIFY due TIMESTAMP NULL")
	var said []string
	for _, d := range livetest.Differences(t, db, plan) {
		if strings.Contains(d.Problem, "a TIMESTAMP is converted by the session's time zone") {
			said = append(said, d.Table+"."+d.Column)
		}
	}
	slices.Sort(said)
	if want := []string{"visit.due", "visit.seen", "visit_archive.due", "visit_archive.seen"}; !slices.Equal(said, want) {
		t.Errorf("said of %v, want %v", said, want)
	}
}

// TestFurtherParents: the DDL of a resource has the indexes of its further edges, and Verify looks for them.
func TestFurtherParents(t *testing.T) {
	plan := schema.Plan{
		Resources: []schema.Resource{{Name: "folder", Archive: "folder_archive", Owner: "user_id",
			Columns: []schema.Column{{Name: "in_id", Type: "BIGINT NULL"}, {Name: "kind", Type: "VARCHAR(20) NOT NULL"}, {Name: "about", Type: "BIGINT NULL"}, {Name: "team_id", Type: "INT NOT NULL"}},
			Indexes: []schema.Index{{Columns: []string{"team_id", "kind"}}},
			Parents: []schema.Edge{{Table: "folder", Columns: []string{"in_id"}}, {Table: "folder", Columns: []string{"about"}, When: map[string]string{"kind": "folder"}, OnDelete: schema.OnDeleteDetach},
				{Table: "team", Columns: []string{"team_id"}}}}},
		Tables: []schema.Table{{Name: "team", Key: []string{"id"}}},
	}
	db := livetest.Migrated(t, "CREATE TABLE team (id INT PRIMARY KEY)")
	for _, stmt := range plan.DDL() {
		dbtest.Exec(t, db, stmt)
	}
	dbtest.Exec(t, db, "ALTER TABLE folder ADD FOREIGN KEY (team_id) REFERENCES team (id)")
	if err := live.Verify(t.Context(), db, plan); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range []string{"ALTER TABLE folder_archive DROP KEY kind_about", "ALTER TABLE folder DROP KEY in_id", "ALTER TABLE folder_archive DROP KEY team_id", "ALTER TABLE folder MODIFY about BIGINT NOT NULL"} {
		dbtest.Exec(t, db, stmt)
	}
	found := livetest.Differences(t, db, plan)
	for _, says := range []string{"no index has the columns (kind, about)", "no index has the columns (in_id)", "no index has the columns (team_id)", "it is NOT NULL, and the plan detaches it"} {
		if !slices.ContainsFunc(found, func(d live.Difference) bool { return strings.Contains(d.Problem, says) }) {
			t.Errorf("nothing says %q: %v", says, found)
		}
	}
}
