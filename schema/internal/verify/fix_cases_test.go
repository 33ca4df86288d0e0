package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema"
)

// parseNames is a step of a recipe: a program fills the keys of names.
const parseNames = "what a program computes for each row"

// fixPlan has a resource with all that one can have, and tables of somebody else's.
func fixPlan() schema.Plan {
	return schema.Plan{
		Resources: []schema.Resource{{
			Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"},
			Quota: schema.Quota{Flag: "is_over_quota", By: "position"},
			Columns: []schema.Column{{Name: "position", Type: "INT NOT NULL DEFAULT 0"}, {Name: "note", Type: "VARCHAR(80) NOT NULL DEFAULT 'a, b'"}, {Name: "plain", Type: "VARCHAR(20) NOT NULL"},
				{Name: "seen", Type: "TIMESTAMP NULL"}, {Name: "cost", Type: "DECIMAL(10,2) NULL"}, {Name: "color", Type: "ENUM('red','green') NULL"}, {Name: "story", Type: "TEXT NULL"}, {Name: "the_row", Type: "INT NULL"}},
			Indexes: []schema.Index{{Columns: []string{"position", "note"}}},
		}},
		Tables: []schema.Table{
			{Name: "class", Key: []string{"school", "no"}},
			{Name: "pupil", Key: []string{"name"}, Archive: "old_pupil", Parents: []schema.Edge{
				{Table: "class", Columns: []string{"school", "class_no"}}, {Table: "pupil", Columns: []string{"friend"}, OnDelete: schema.OnDeleteDetach}}},
			{Name: "grade", Key: []string{"id"}, Parents: []schema.Edge{{Table: "pupil", Columns: []string{"pupil"}}}},
			{Name: "note", Key: []string{"id"}, Asset: "file", Parents: []schema.Edge{
				{Table: "pupil", Columns: []string{"about"}, When: map[string]string{"kind": "pupil"}},
				{Table: "grade", Columns: []string{"grade_id"}, OnDelete: schema.OnDeleteKeep}}},
			{Name: "ticket", Key: []string{"id"}, Archive: "old_ticket"},
		},
	}
}

// What makes the tables of the plan and fills them: times on both sides of a change of summer time, defaults,
// comments, a collation that is not the table's, a generated column, NULLs, an unsigned column, the id 0.
func resourceTables() []string {
	stmts := fixPlan().DDL()
	for i := range stmts {
		for plain, full := range map[string]string{
			"`note` VARCHAR(80) NOT NULL DEFAULT 'a, b'": "`note` VARCHAR(80) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT 'a, b' COMMENT 'it''s NOT NULL DEFAULT AUTO_INCREMENT', " +
				"`loud` VARCHAR(80) AS (UPPER(`note`)) VIRTUAL COMMENT 'computed'",
			"`created_at` DATETIME(6) NOT NULL":  "`created_at` DATETIME(6) NOT NULL COMMENT 'the first time'",
			"`user_id` BIGINT NOT NULL":          "`user_id` BIGINT NOT NULL COMMENT 'who'",
			"`archived_at` DATETIME(6) NOT NULL": "`archived_at` DATETIME(6) NOT NULL DEFAULT '2026-03-29 02:30:00'",
		} {
			stmts[i] = strings.Replace(stmts[i], plain, full, 1)
		}
	}
	row := func(id int, name, key, stem string, n int) string {
		return fmt.Sprintf("(%[1]d, 7, '%[2]s', '%[3]s', '%[4]s', %[5]d, '2026-03-29 02:30:00.123456', '2026-10-25 02:30:00.654321', %[1]d, 'Ünter %[1]d', 'p%[1]d', '2026-07-01 12:00:00', NULLIF(%[1]d, 2) * 1.25, %[1]d)",
			id, name, key, stem, n)
	}
	const into = " (id, user_id, name, name_key, stem_key, copy_no, created_at, updated_at, position, note, plain, seen, cost, the_row) VALUES "
	return append(stmts,
		"INSERT INTO project"+into+row(0, "Nil", "nil", "nil", 0)+","+row(1, "Alpha", "alpha", "alpha", 0)+","+row(2, "ALPHA (Copy 3)", "alpha (copy 3)", "alpha", 3)+","+row(3, "Émile", "émile", "émile", 0),
		"INSERT INTO project_archive"+into+row(4, "Alpha", "alpha", "alpha", 0)+","+row(5, "Alpha", "alpha", "alpha", 0),
		"UPDATE project_archive SET deletion_id = 3 WHERE id = 5",
		"ALTER TABLE project AUTO_INCREMENT = 6")
}

func otherTables() []string {
	const end = " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
	const pupils = "(name VARCHAR(40) COLLATE utf8mb4_unicode_ci PRIMARY KEY, school INT UNSIGNED NOT NULL, class_no SMALLINT NOT NULL DEFAULT 1 COMMENT 'the ''no''', " +
		"friend VARCHAR(40) COLLATE utf8mb4_unicode_ci NULL DEFAULT NULL COMMENT 'may be NULL', the_row INT, born TIMESTAMP NULL, KEY friend (friend), KEY class (class_no, school))" + end
	return []string{
		"CREATE TABLE class (school INT UNSIGNED, no SMALLINT, title TEXT, the_row INT, PRIMARY KEY (school, no))" + end,
		"CREATE TABLE pupil " + pupils, "CREATE TABLE old_pupil " + pupils,
		"CREATE TABLE grade (id INT PRIMARY KEY, pupil VARCHAR(40) COLLATE utf8mb4_unicode_ci NOT NULL DEFAULT 'n''o' COMMENT 'whose', mark DECIMAL(3,1), the_row INT, KEY pupil (pupil))" + end,
		"CREATE TABLE note (id BIGINT PRIMARY KEY, kind VARCHAR(20), about VARCHAR(40) COLLATE utf8mb4_unicode_ci, grade_id INT, file VARCHAR(255), the_row INT, KEY about (kind, about), KEY grade_id (grade_id))" + end,
		"CREATE TABLE ticket (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, text VARCHAR(20) NOT NULL, the_row INT) AUTO_INCREMENT = 4" + end,
		"CREATE TABLE old_ticket (id INT UNSIGNED NOT NULL PRIMARY KEY, text VARCHAR(20) NOT NULL, the_row INT)" + end,
		"INSERT INTO class VALUES (1, 1, 'x', 0), (4000000000, 2, NULL, 1)",
		"INSERT INTO pupil VALUES ('Ann', 1, 1, NULL, 0, '2026-03-29 01:30:00'), ('bob', 4000000000, 2, 'Ann', 1, NULL)", "INSERT INTO old_pupil VALUES ('Cy', 1, 1, 'Ann', 0, '2026-03-29 01:30:00')",
		"INSERT INTO grade VALUES (1, 'Ann', 1.5, 0), (2, 'bob', NULL, 1)", "INSERT INTO note VALUES (1, 'pupil', 'Ann', 1, 'f', 0), (2, NULL, NULL, NULL, NULL, 1)",
		"INSERT INTO ticket VALUES (1, 'a', 0), (2, 'b', 1)", "INSERT INTO old_ticket VALUES (3, 'c', 0)",
	}
}

func fixCases() []fixCase {
	return slices.Concat(tableFixes(), columnFixes(), pairFixes(), indexFixes(), counterFixes(), keyFixes(), edgeFixes(), foreignFixes(), toolkitFixes())
}

func tableFixes() []fixCase {
	archive := fixPlan().DDL()[1]
	return []fixCase{
		{kind: TableMissing, name: "archive", broken: []string{"DROP TABLE project_archive"}, recipe: []string{archive}},
		{kind: TableMissing, name: "active", broken: []string{"DROP TABLE project"}, recipe: []string{fixPlan().DDL()[0]}, left: []Kind{CounterBehind}},
		{kind: TableView, name: "view", broken: []string{"DROP TABLE project_archive", "CREATE VIEW project_archive AS SELECT * FROM project"},
			recipe: []string{"DROP VIEW project_archive", archive}, may: []string{"project_archive"}},
		{kind: TableEngine, name: "resource", broken: []string{"ALTER TABLE project DROP KEY one_name, DROP KEY next_copy", "ALTER TABLE project ENGINE=MyISAM"}, sql: "ENGINE=InnoDB", may: []string{"project engine"}},
		{other: true, kind: TableEngine, name: "table", broken: []string{"ALTER TABLE old_ticket ENGINE=MyISAM"}, sql: "ENGINE=InnoDB", may: []string{"old_ticket engine"}},
		{kind: TableTrigger, name: "trigger", broken: []string{"CREATE TRIGGER tr BEFORE DELETE ON project FOR EACH ROW SET @x = 1"}, sql: "DROP TRIGGER `tr`", may: []string{"trigger tr"}},
		{other: true, kind: ForeignTrigger, name: "trigger", broken: []string{"CREATE TRIGGER tr BEFORE DELETE ON grade FOR EACH ROW SET @x = 1"}, sql: "DROP TRIGGER `tr`", may: []string{"trigger tr"}},
		{other: true, kind: TriggerGone, name: "accepted", plan: func(p *schema.Plan) { p.Tables[2].Triggers = []string{"tr"} }},
		{kind: TableHidden, name: "no right", rights: []string{"GRANT SELECT ON THIS.project TO USER"}, recipe: []string{"GRANT SELECT ON THIS.project_archive TO USER"}},
		{kind: CounterHidden, name: "no SELECT", rights: []string{"GRANT SELECT ON THIS.* TO USER", "GRANT INSERT ON THIS.* TO USER", "REVOKE SELECT ON THIS.* FROM USER",
			"GRANT SELECT ON THIS.project TO USER"},
			says: "may not be read", recipe: []string{"GRANT SELECT ON THIS.project_archive TO USER"}},
	}
}

func columnFixes() []fixCase {
	project := func(name, column, change, says, sql string, may ...string) fixCase {
		c := fixCase{kind: ColumnWrong, name: name, broken: []string{"ALTER TABLE project MODIFY " + column + " " + change}, says: says, sql: sql}
		for _, property := range may {
			c.may = append(c.may, "project."+column+" "+property)
		}
		return c
	}
	words := func(c fixCase, recipe ...string) fixCase {
		c.recipe = recipe
		return c
	}
	const noted = " COMMENT 'it''s kept'"
	keys := []string{"ALTER TABLE project ADD COLUMN name_key VARBINARY(1020) NULL", parseNames, "ALTER TABLE project MODIFY name_key VARBINARY(1020) NOT NULL, ADD UNIQUE KEY one_name (user_id, name_key)"}
	return []fixCase{
		{kind: ColumnMissing, name: "name key", broken: []string{"ALTER TABLE project DROP KEY one_name, DROP COLUMN name_key"}, recipe: keys},
		{kind: ColumnMissing, name: "stem", broken: []string{"ALTER TABLE project DROP KEY next_copy, DROP COLUMN stem_key, DROP COLUMN copy_no"},
			recipe: []string{"ALTER TABLE project ADD COLUMN stem_key VARBINARY(1020) NULL, ADD COLUMN copy_no INT NULL", parseNames,
				"ALTER TABLE project MODIFY stem_key VARBINARY(1020) NOT NULL, MODIFY copy_no INT NOT NULL DEFAULT 0, ADD KEY next_copy (user_id, stem_key, copy_no)"}},
		{kind: ColumnMissing, name: "time", broken: []string{"ALTER TABLE project DROP COLUMN created_at"},
			recipe: []string{"ALTER TABLE project ADD COLUMN created_at DATETIME(6) NULL", "UPDATE project SET created_at = UTC_TIMESTAMP(6)", "ALTER TABLE project MODIFY created_at DATETIME(6) NOT NULL"}},
		{kind: ColumnMissing, name: "owner", broken: []string{"ALTER TABLE project_archive DROP KEY shown, DROP COLUMN user_id"},
			recipe: []string{"ALTER TABLE project_archive ADD COLUMN user_id BIGINT NULL", "UPDATE project_archive SET user_id = 7", "ALTER TABLE project_archive MODIFY user_id BIGINT NOT NULL, ADD KEY (user_id, deletion_id)"}},
		{kind: ColumnMissing, name: "version", broken: []string{"ALTER TABLE project DROP COLUMN version"}, sql: "ADD COLUMN `version` BIGINT NOT NULL DEFAULT 1"},
		{kind: ColumnMissing, name: "flag", broken: []string{"ALTER TABLE project DROP KEY quota_flag, DROP COLUMN is_over_quota"}, sql: "ADD COLUMN `is_over_quota` TINYINT NOT NULL DEFAULT 0", left: []Kind{IndexMissing}},
		{kind: ColumnMissing, name: "deletion", broken: []string{"ALTER TABLE project_archive DROP COLUMN deletion_id, DROP COLUMN deleted_from"}, sql: "ADD COLUMN `deletion_id` BIGINT NULL", left: []Kind{IndexMissing}},
		{kind: ColumnMissing, name: "own with a default", broken: []string{"ALTER TABLE project_archive DROP COLUMN loud, DROP COLUMN note"}, sql: "ADD COLUMN `note` VARCHAR(80)"},
		{kind: ColumnMissing, name: "own without", broken: []string{"ALTER TABLE project_archive DROP COLUMN plain"},
			recipe: []string{"ALTER TABLE project_archive ADD COLUMN plain VARCHAR(20) NULL", "UPDATE project_archive SET plain = 'unknown'", "ALTER TABLE project_archive MODIFY plain VARCHAR(20) NOT NULL"}},
		{kind: ColumnMissing, name: "own TIMESTAMP", broken: []string{"ALTER TABLE project_archive DROP COLUMN seen"}, recipe: []string{"ALTER TABLE project_archive ADD COLUMN seen TIMESTAMP NULL"}},

		project("version too small", "version", "TINYINT UNSIGNED NOT NULL DEFAULT 9"+noted, "tinyint", "bigint unsigned NOT NULL DEFAULT", "column_type"),
		project("copy number too small", "copy_no", "SMALLINT NOT NULL DEFAULT 0"+noted, "smallint", "`copy_no` int NOT NULL", "column_type"),
		project("key too short", "stem_key", "VARBINARY(300) NOT NULL"+noted, "varbinary(300)", "varbinary(1020) NOT NULL COMMENT 'it''s kept'", "column_type"),
		project("label too short", "name", "VARCHAR(150) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT 'x'"+noted, "varchar(150)", "varchar(200)", "column_type"),
		project("time without fraction", "updated_at", "DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP"+noted, "datetime, not", "datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT", "column_type", "column_default"),
		project("time that moves", "updated_at", "DATETIME(3) NOT NULL DEFAULT '2020-01-01 00:00:00' ON UPDATE CURRENT_TIMESTAMP(3)"+noted, "changes by itself", "datetime(6) NOT NULL DEFAULT '2020-01-01 00:00:00", "column_type", "extra", "column_default"),
		words(project("time with a zone", "updated_at", "TIMESTAMP(6) NOT NULL DEFAULT '2020-01-01 00:00:00'"+noted, "timestamp(6)", "", "column_type", "column_default"),
			"SET time_zone = '+00:00'", "ALTER TABLE project MODIFY updated_at DATETIME(6) NOT NULL DEFAULT '2020-01-01 00:00:00'"+noted),
		words(project("key with a collation", "name_key", "VARCHAR(250) NOT NULL", "not VARBINARY(1020)", "", "column_type", "collation_name"),
			append([]string{"ALTER TABLE project DROP KEY one_name, DROP COLUMN name_key"}, keys...)...),
		words(project("label not utf8mb4", "name", "VARCHAR(200) CHARACTER SET latin1 NOT NULL", "latin1", "", "column_type", "collation_name"),
			"ALTER TABLE project MODIFY name VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL"),
		words(project("flag of text", "is_over_quota", "VARCHAR(3) NOT NULL DEFAULT '0'", "varchar(3)", "", "column_type", "collation_name", "column_default"),
			"ALTER TABLE project MODIFY is_over_quota TINYINT NOT NULL DEFAULT 0"),
		words(project("owner may be NULL", "user_id", "BIGINT NULL DEFAULT NULL COMMENT 'who'", "may be NULL", "", "is_nullable", "column_default"), "ALTER TABLE project MODIFY user_id BIGINT NOT NULL COMMENT 'who'"),
		words(project("order may be NULL", "position", "INT NULL DEFAULT 0", "orders rows by it", "", "is_nullable"), "UPDATE project SET position = 0 WHERE position IS NULL", "ALTER TABLE project MODIFY position INT NOT NULL DEFAULT 0"),
		words(project("not generated", "id", "BIGINT NOT NULL", "not AUTO_INCREMENT", "", "extra"), "SET sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')", "ALTER TABLE project MODIFY id BIGINT NOT NULL AUTO_INCREMENT, AUTO_INCREMENT = 6"),
		{kind: ColumnWrong, name: "generated in the archive", broken: []string{"ALTER TABLE project_archive MODIFY id BIGINT NOT NULL AUTO_INCREMENT COMMENT 'it''s AUTO_INCREMENT'"},
			says: "is AUTO_INCREMENT, but", sql: "`id` bigint", may: []string{"project_archive.id extra"}},
		{kind: ColumnWrong, name: "must not be NULL", broken: []string{"UPDATE project_archive SET deletion_id = 3", "ALTER TABLE project_archive MODIFY deletion_id BIGINT NOT NULL DEFAULT 3 COMMENT 'NOT NULL'"},
			says: "must not be NULL", sql: "`deletion_id` bigint", may: []string{"deletion_id is_nullable"}},
		{kind: ColumnWrong, name: "with a backslash", broken: []string{"ALTER TABLE project MODIFY copy_no SMALLINT NOT NULL DEFAULT 0 COMMENT 'a\\\\b'"}, says: "smallint",
			recipe: []string{"ALTER TABLE project MODIFY copy_no INT NOT NULL DEFAULT 0 COMMENT 'a\\\\b'"}, may: []string{"copy_no column_type"}},
		{kind: ColumnUnknown, name: "of a pair", broken: []string{"ALTER TABLE project ADD COLUMN size INT NULL"}},
		{kind: ColumnUnknown, name: "without a default", broken: []string{"ALTER TABLE project ADD COLUMN size INT NOT NULL"},
			plan: func(p *schema.Plan) { p.Resources[0].Archive = "" }, says: "rows cannot be made"},
	}
}
