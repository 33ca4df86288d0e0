package live_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/internal/schematest/livetest"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// TestVerifyNamesEachDifference breaks a database in one way, wants exactly the difference that comes of it,
// and, where the fix is a statement, that running it mends the database.
func TestVerifyNamesEachDifference(t *testing.T) {
	const byHand = "" // the fix is not one statement
	cases := []struct {
		name   string
		broken []string
		table  string
		what   string // column or index
		says   string
		fix    string
		others int // more differences that come of it
	}{
		{"table missing", []string{"DROP TABLE screen_archive"}, "screen_archive", "", "does not exist", byHand, 0},
		{"a view", []string{"DROP TABLE screen_archive", "CREATE VIEW screen_archive AS SELECT * FROM screen"}, "screen_archive", "", "it is a view", byHand, 0},
		{"engine", []string{"ALTER TABLE screen_archive ENGINE=MyISAM"}, "screen_archive", "", "MyISAM", "ENGINE=InnoDB", 0},
		{"column missing", []string{"ALTER TABLE project DROP COLUMN created_at"}, "project", "created_at", "does not exist", byHand, 0},
		{"own column missing in the archive", []string{"ALTER TABLE project_archive DROP COLUMN note"}, "project_archive", "note", "does not exist", "ADD COLUMN", 0},
		{"id not generated", []string{"ALTER TABLE project MODIFY id BIGINT NOT NULL"}, "project", "id", "it is not AUTO_INCREMENT", byHand, 0},
		{"id generated in the archive", []string{"ALTER TABLE project_archive MODIFY id BIGINT NOT NULL AUTO_INCREMENT"}, "project_archive", "id", "it is AUTO_INCREMENT, but", "MODIFY", 0},
		{"key with a collation", []string{"ALTER TABLE project MODIFY name_key VARCHAR(700) NOT NULL"}, "project", "name_key", "not VARBINARY(1020)", byHand, 0},
		{"key too short", []string{"ALTER TABLE project MODIFY stem_key VARBINARY(255) NOT NULL"}, "project", "stem_key", "it is varbinary(255)", "MODIFY", 0},
		{"label too short", []string{"ALTER TABLE screen MODIFY client_filename VARCHAR(199) NOT NULL"}, "screen", "client_filename", "200 characters", "MODIFY", 0},
		{"label not utf8mb4", []string{"ALTER TABLE screen_archive MODIFY client_filename VARCHAR(200) CHARACTER SET latin1 NOT NULL"}, "screen_archive", "client_filename", "latin1", byHand, 0},
		{"owner may be null", []string{"ALTER TABLE project MODIFY user_id BIGINT NULL"}, "project", "user_id", "may be NULL", byHand, 1},
		{"deletion id must not be null", []string{"ALTER TABLE project_archive MODIFY deletion_id BIGINT NOT NULL"}, "project_archive", "deletion_id", "must not be NULL", "MODIFY", 0},
		{"copy number too small", []string{"ALTER TABLE project MODIFY copy_no SMALLINT NOT NULL DEFAULT 0"}, "project", "copy_no", "smallint", "MODIFY", 0},
		{"time without fraction", []string{"ALTER TABLE screen MODIFY updated_at DATETIME NOT NULL"}, "screen", "updated_at", "datetime, not DATETIME(6)", "MODIFY", 0},
		{"time with a zone", []string{"ALTER TABLE project_archive MODIFY archived_at TIMESTAMP(6) NOT NULL DEFAULT '2020-01-01 00:00:00'"}, "project_archive", "archived_at", "timestamp(6)", byHand, 0},
		{"time that moves by itself", []string{"ALTER TABLE project MODIFY updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)"}, "project", "updated_at", "changes by itself", "MODIFY", 0},
		{"order may be null", []string{"ALTER TABLE project MODIFY position INT NULL"}, "project", "position", "orders rows by it", byHand, 1},
		{"own column narrower in the archive", []string{"ALTER TABLE project_archive MODIFY note VARCHAR(20) NOT NULL"}, "project_archive", "note", "may not fit", byHand, 0},
		{"unknown column", []string{"ALTER TABLE project ADD COLUMN color INT NULL"}, "project", "color", "lost when a row is archived", byHand, 0},
		{"unknown column that must be filled", []string{"ALTER TABLE `Comment of a \"screen\"` ADD COLUMN color INT NOT NULL"}, "Comment of a \"screen\"", "color", "rows cannot be made", byHand, 0},
		{"primary key", []string{"ALTER TABLE project_archive DROP PRIMARY KEY, ADD PRIMARY KEY (user_id, id)"}, "project_archive", "PRIMARY", "no primary key", "DROP PRIMARY KEY, ADD PRIMARY KEY (`id`)", 0},
		{"no unique name", []string{"ALTER TABLE project DROP INDEX one_name"}, "project", "one_name", "decides who has a name", "ADD UNIQUE KEY `one_name` (`user_id`, `name_key`)", 0},
		{"name not unique", []string{"ALTER TABLE project DROP INDEX one_name, ADD INDEX other (user_id, name_key)"}, "project", "one_name", "no unique index", "ADD UNIQUE KEY", 0},
		{"unique with a third column", []string{"ALTER TABLE project DROP INDEX one_name, ADD UNIQUE INDEX other_b (user_id, name_key, id)"}, "project", "one_name", "no unique index", "ADD UNIQUE KEY", 0},
		{"unique prefix", []string{"ALTER TABLE project DROP INDEX one_name, ADD UNIQUE INDEX other_c (user_id, name_key(20))"}, "project", "one_name", "no unique index", byHand, 1},
		{"index in another order", []string{"ALTER TABLE project DROP INDEX next_copy, ADD INDEX next_copy (stem_key, user_id, copy_no)"}, "project", "next_copy", "next copy number", byHand, 0},
		{"index missing", []string{"ALTER TABLE project DROP INDEX quota_flag"}, "project", "quota_flag", "wrong flags", "ADD KEY", 0},
		{"own index missing", []string{"ALTER TABLE project DROP INDEX position_note"}, "project", "position_note", "the plan declares it", "ADD KEY", 0},
		{"name unique in the archive", []string{"ALTER TABLE project_archive ADD UNIQUE INDEX one_name (user_id, name_key)"}, "project_archive", "one_name", "does not know this unique index", byHand, 0},
		{"name unique for all", []string{"ALTER TABLE project ADD UNIQUE INDEX u (name_key)"}, "project", "u", "does not know this unique index", byHand, 0},
		{"trigger", []string{"CREATE TRIGGER tr AFTER DELETE ON screen FOR EACH ROW SET @x = 1"}, "screen", "", "the trigger \"tr\"", byHand, 0},
		{"cascade", []string{"ALTER TABLE screen ADD CONSTRAINT fk FOREIGN KEY (project_id) REFERENCES project (id) ON DELETE CASCADE"}, "screen", "fk", "ON DELETE CASCADE", byHand, 0},
		{"restrict within the plan", []string{"ALTER TABLE screen ADD CONSTRAINT fk FOREIGN KEY (project_id) REFERENCES project (id)"}, "screen", "fk", "no foreign key may lead to", "DROP FOREIGN KEY `fk`", 0},
		{"set null from outside", []string{"CREATE TABLE tag (id INT PRIMARY KEY, project_id BIGINT NULL)", "ALTER TABLE tag ADD CONSTRAINT fk FOREIGN KEY (project_id) REFERENCES project (id) ON DELETE SET NULL"}, "project", "fk", "ON DELETE SET NULL", byHand, 0},
		{"cascade from an outside owner", []string{"CREATE TABLE user (id BIGINT PRIMARY KEY)", "ALTER TABLE project ADD CONSTRAINT fk FOREIGN KEY (user_id) REFERENCES user (id) ON DELETE CASCADE"}, "project", "fk", "nobody counts", byHand, 0},
		{"toolkit's table missing", []string{"DROP TABLE onerow_job"}, "onerow_job", "", "does not exist", byHand, 0},
		{"toolkit's column missing", []string{"ALTER TABLE onerow_job DROP COLUMN batch_seq"}, "onerow_job", "batch_seq", "does not exist", byHand, 0},
		{"toolkit's constraint missing", []string{"ALTER TABLE onerow_job DROP INDEX one_open"}, "onerow_job", "one_open", "no unique index", "ADD UNIQUE KEY `one_open`", 0},
		{"toolkit's type", []string{"ALTER TABLE onerow_request MODIFY request_id VARCHAR(255) NOT NULL"}, "onerow_request", "request_id", "not VARBINARY", byHand, 0},
	}
	plan := livetest.Plain()
	var db *sql.DB // the same again after a fix has mended it
	for _, c := range cases {
		if db == nil {
			db = livetest.Open(t, plan)
		}
		t.Run(c.name, func(t *testing.T) {
			mended := false
			defer func() {
				if !mended {
					db = nil
				}
			}()
			if found := livetest.Differences(t, db, plan); found != nil {
				t.Fatalf("before: %v", found)
			}
			for _, stmt := range c.broken {
				dbtest.Exec(t, db, stmt)
			}
			found := livetest.Differences(t, db, plan)
			i := slices.IndexFunc(found, func(d live.Difference) bool {
				return d.Table == c.table && (c.what == "" && d.Column+d.Index == "" || c.what != "" && (d.Column == c.what || d.Index == c.what)) &&
					strings.Contains(d.Problem, c.says)
			})
			if i < 0 || len(found) != 1+c.others {
				t.Fatalf("%d differences:\n%v", len(found), live.Verify(t.Context(), db, plan))
			}
			t.Log(found[i])
			if strings.HasPrefix(c.table, "onerow_") && c.fix == byHand && !strings.Contains(found[i].Fix, "cascade-worker migrate up") {
				t.Errorf("the fix is %q", found[i].Fix)
			}
			if c.fix == byHand {
				return
			}
			if !strings.Contains(found[i].SQL, c.fix) {
				t.Errorf("the fix is %q, want %q", found[i].Fix, c.fix)
			}
			dbtest.Exec(t, db, found[i].SQL)
			found = livetest.Differences(t, db, plan)
			if mended = found == nil; !mended {
				t.Errorf("after the fix: %v", found)
			}
		})
	}
}

// TestVerifyAllows: what does the same under another name, and what is none of the plan's business.
func TestVerifyAllows(t *testing.T) {
	plan := livetest.Plain()
	db := livetest.Open(t, plan)
	for _, stmt := range []string{
		"ALTER TABLE project RENAME INDEX one_name TO nur_einer, RENAME INDEX next_copy TO kopie",
		"ALTER TABLE project DROP INDEX owner_id, ADD INDEX only_owner (user_id)", // InnoDB adds the id
		"ALTER TABLE project DROP INDEX quota_flag, ADD INDEX more (user_id, is_over_quota, position, id, note)",
		"ALTER TABLE project MODIFY name VARCHAR(250) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'x'",
		"ALTER TABLE project MODIFY COLUMN note VARCHAR(80) NOT NULL FIRST, ADD COLUMN loud VARCHAR(80) AS (UPPER(note)) VIRTUAL",
		"ALTER TABLE project MODIFY version INT UNSIGNED NOT NULL",
		"ALTER TABLE project ADD UNIQUE INDEX id_first (id, note)",
		"CREATE TABLE user (id BIGINT PRIMARY KEY)",
		"ALTER TABLE project ADD CONSTRAINT fk FOREIGN KEY (user_id) REFERENCES user (id)",
		"CREATE TABLE free (id INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES free (id) ON DELETE CASCADE) ENGINE=InnoDB",
		"CREATE TRIGGER tr AFTER DELETE ON free FOR EACH ROW SET @x = 1",
		"ALTER TABLE onerow_job ADD COLUMN of_a_later_version INT NULL, ADD INDEX more (state)",
	} {
		dbtest.Exec(t, db, stmt)
	}
	// Owners of another kind are the application's choice, when the plan says so and both tables agree.
	for i := range plan.Resources {
		if plan.Resources[i].Name == "screen" {
			plan.Resources[i].Parent.Type = "VARBINARY(36)"
		}
	}
	for _, table := range []string{"screen", "screen_archive"} {
		dbtest.Exec(t, db, "ALTER TABLE "+table+" MODIFY project_id VARBINARY(36) NOT NULL, MODIFY `blob` TEXT NULL")
	}
	if err := live.Verify(t.Context(), db, plan); err != nil {
		t.Fatal(err)
	}
}

// TestVerifyAnEmptyDatabase names every table once, and asks for the migrations.
func TestVerifyAnEmptyDatabase(t *testing.T) {
	db := dbtest.Open(t)
	found := livetest.Differences(t, db, livetest.Plain())
	if len(found) != 5+30 {
		t.Errorf("%d differences: %v", len(found), found)
	}
	if err := live.Verify(t.Context(), db, schema.Plan{}); !errors.Is(err, schema.ErrInvalidPlan) || differs(err) {
		t.Error(err)
	}
}

// TestVerifyCosts eight statements and one for each table that is missing, only reads, and needs a database
// and the right to read.
func TestVerifyCosts(t *testing.T) {
	plan := livetest.Plain()
	plan.Resources = plan.Resources[:2]
	db, c := racetest.Counted(t, dbtest.DSN(t))
	counters := 0
	for _, missing := range []int{4 + 30, 2 + 30} { // tables, each of which is asked for
		log, err := crashtest.Count(c, func() error { return live.Verify(t.Context(), db, plan) })
		if !differs(err) || len(log) != 9+missing+counters {
			t.Fatalf("%v, %d statements:\n%s", err, len(log), log)
		}
		for _, s := range log {
			if !strings.HasPrefix(s.SQL, "SELECT ") && !strings.HasPrefix(s.SQL, "SHOW ") && !strings.HasPrefix(s.SQL, "EXPLAIN SELECT 1 ") {
				t.Errorf("it sends %s", s.SQL)
			}
		}
		for _, stmt := range plan.DDL()[:2] {
			if _, err := db.ExecContext(t.Context(), strings.Replace(stmt, "CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1)); err != nil {
				t.Fatal(err)
			}
		}
		counters = 2 // the highest id in the archive, and the next one
	}
	nowhere := dbtest.OpenDSN(t, dbtest.Server(t).DSN(""))
	if err := live.Verify(t.Context(), nowhere, plan); err == nil || differs(err) {
		t.Error(err)
	}
}

// TestVerifyRefusesSettings before it looks at a table.
func TestVerifyRefusesSettings(t *testing.T) {
	db := dbtest.Open(t, dbtest.Param("autocommit", "0"))
	if err := live.Verify(t.Context(), db, livetest.Plain()); !errors.Is(err, pool.ErrSetting) || differs(err) {
		t.Error(err)
	}
}

// TestVerifyAsAReader: SELECT is enough for a clean answer and for most of the differences.
func TestVerifyAsAReader(t *testing.T) {
	plan := livetest.Plain()
	db := livetest.Open(t, plan)
	var name string
	if err := db.QueryRowContext(t.Context(), "SELECT DATABASE()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	user := "r_" + name
	cfg := dbtest.Server(t).Config(name)
	dbtest.Exec(t, db, "CREATE USER '"+user+"'@'%' IDENTIFIED BY 'only reads'")
	t.Cleanup(func() {
		if _, err := dbtest.OpenDSN(t, cfg.FormatDSN()).ExecContext(context.Background(), "DROP USER '"+user+"'@'%'"); err != nil {
			t.Error(err)
		}
	})
	dbtest.Exec(t, db, "GRANT SELECT ON `"+name+"`.* TO '"+user+"'@'%'")
	asReader := dbtest.Server(t).Config(name)
	asReader.User, asReader.Passwd, asReader.AllowNativePasswords = user, "only reads", true
	reader := dbtest.OpenDSN(t, asReader.FormatDSN())
	if err := live.Verify(t.Context(), reader, plan); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "ALTER TABLE project DROP INDEX one_name, MODIFY name_key VARCHAR(200) NOT NULL")
	if found := livetest.Differences(t, reader, plan); len(found) != 2 {
		t.Errorf("%v", found)
	}
}

func differs(err error) bool {
	var e *live.VerifyError
	return errors.As(err, &e)
}
