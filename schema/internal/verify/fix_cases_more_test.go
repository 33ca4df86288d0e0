package verify

import (
	"time"

	"github.com/onerow/onerow/schema"
)

func pairFixes() []fixCase {
	archive := func(name, column, change, sql string, may ...string) fixCase {
		c := fixCase{kind: ColumnsDiffer, name: name, broken: []string{"ALTER TABLE project_archive MODIFY " + column + " " + change}, sql: sql}
		for _, property := range may {
			c.may = append(c.may, "project_archive."+column+" "+property)
		}
		return c
	}
	wider := func(name, column, change, sql string) fixCase {
		c := archive(name, column, change, sql)
		c.may = []string{"project." + column + " column_type"}
		return c
	}
	const noted = " COMMENT 'it''s kept'"
	return []fixCase{
		archive("narrower", "note", "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci NOT NULL DEFAULT 'q'"+noted, "`project_archive` MODIFY COLUMN `note` varchar(80) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci NOT NULL DEFAULT 'q'", "column_type"),
		wider("wider", "note", "VARCHAR(300) COLLATE utf8mb4_bin NOT NULL", "`project` MODIFY COLUMN `note` varchar(300)"),
		archive("smaller integer", "position", "SMALLINT NOT NULL DEFAULT 4"+noted, "`project_archive` MODIFY COLUMN `position` int", "column_type"),
		archive("fewer digits", "cost", "DECIMAL(6,2) NULL"+noted, "decimal(10,2)", "column_type"),
		archive("shorter text", "story", "TINYTEXT NULL", "text", "column_type"),
		archive("NOT NULL", "cost", "DECIMAL(10,2) NOT NULL"+noted, "decimal(10,2)", "is_nullable", "column_default"),
		archive("another character set", "plain", "VARCHAR(20) CHARACTER SET latin1 NOT NULL", ""),
		archive("unsigned", "position", "INT UNSIGNED NOT NULL", ""),
		archive("more digits behind the point", "cost", "DECIMAL(10,4) NULL", ""),
		archive("fewer members", "color", "ENUM('red') NULL", ""),
		archive("more NULLs", "plain", "VARCHAR(20) NULL", ""),
		archive("DATETIME", "seen", "DATETIME NULL", ""),
		{other: true, kind: ArchiveDiffers, name: "narrower", broken: []string{"ALTER TABLE old_pupil MODIFY friend VARCHAR(20) COLLATE utf8mb4_unicode_ci NULL COMMENT 'it''s kept'"}, sql: "`old_pupil` MODIFY COLUMN `friend` varchar(40)", may: []string{"old_pupil.friend column_type"}},
		{other: true, kind: ArchiveDiffers, name: "wider", broken: []string{"ALTER TABLE old_pupil MODIFY friend VARCHAR(60) COLLATE utf8mb4_unicode_ci NULL"}, sql: "`pupil` MODIFY COLUMN `friend` varchar(60)", may: []string{"pupil.friend column_type"}},
		{other: true, kind: ArchiveDiffers, name: "collation", broken: []string{"ALTER TABLE old_pupil MODIFY friend VARCHAR(40) COLLATE utf8mb4_bin NULL DEFAULT 'x' COMMENT 'it''s kept'"}, sql: "COLLATE utf8mb4_unicode_ci", may: []string{"old_pupil.friend collation_name"}},
		{other: true, kind: ArchiveDiffers, name: "unsigned", broken: []string{"ALTER TABLE old_pupil MODIFY school INT NOT NULL"}},
		{other: true, kind: ArchiveMissing, name: "NULL", broken: []string{"ALTER TABLE pupil ADD COLUMN age SMALLINT UNSIGNED NULL COMMENT 'it''s kept', ADD COLUMN motto VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_german1_ci NOT NULL DEFAULT 'x'"}, sql: "ADD COLUMN `age` smallint"},
		{other: true, kind: ArchiveMissing, name: "NOT NULL", broken: []string{"ALTER TABLE pupil ADD COLUMN at DATETIME NOT NULL DEFAULT '2020-01-01'", "ALTER TABLE pupil ALTER COLUMN at DROP DEFAULT"},
			recipe: []string{"ALTER TABLE old_pupil ADD COLUMN at DATETIME NULL", "UPDATE old_pupil SET at = '2020-01-01'", "ALTER TABLE old_pupil MODIFY at DATETIME NOT NULL"}},
	}
}

func indexFixes() []fixCase {
	return []fixCase{
		{kind: IndexMissing, name: "unique name", broken: []string{"ALTER TABLE project DROP KEY one_name"}, sql: "ADD UNIQUE KEY `one_name`"},
		{kind: IndexMissing, name: "name in use", broken: []string{"ALTER TABLE project DROP KEY one_name, ADD KEY one_name (name_key(20))"}, sql: "ADD UNIQUE KEY `one_name_2`"},
		{kind: IndexMissing, name: "order", broken: []string{"ALTER TABLE project DROP KEY next_copy, ADD KEY next_copy (stem_key, user_id, copy_no)"}, sql: "ADD KEY `next_copy_2`"},
		{kind: IndexMissing, name: "primary key", broken: []string{"ALTER TABLE project_archive DROP PRIMARY KEY, ADD PRIMARY KEY (user_id, id)"}, sql: "DROP PRIMARY KEY, ADD PRIMARY KEY (`id`)", may: []string{"project_archive key PRIMARY"}},
		{kind: IndexMissing, name: "primary key that says more", broken: []string{"ALTER TABLE project DROP PRIMARY KEY, ADD PRIMARY KEY (plain), ADD KEY (id)"}, sql: "ADD UNIQUE KEY `plain` (`plain`)", may: []string{"project key PRIMARY"}, left: []Kind{IndexUnknown}},
		{kind: IndexMissing, name: "no primary key", broken: []string{"ALTER TABLE project_archive DROP PRIMARY KEY"}, sql: "ADD PRIMARY KEY (`id`)"},
		{kind: IndexMissing, name: "TEXT", plan: func(p *schema.Plan) { p.Resources[0].Indexes = []schema.Index{{Columns: []string{"story"}}} }},
		{kind: IndexOff, name: "switched off", broken: []string{"ALTER TABLE project ALTER INDEX owner_id /*M! IGNORED */ /*!80000 INVISIBLE */"}, sql: "ALTER INDEX `owner_id`"},
		{kind: IndexUnknown, name: "unique", broken: []string{"ALTER TABLE project ADD UNIQUE KEY u (plain)"}, sql: "DROP INDEX `u`", may: []string{"project key u"}},
	}
}

func counterFixes() []fixCase {
	rebuilt := func(table string) []string { // as tools that change schemas do it
		return []string{"CREATE TABLE rebuilt LIKE " + table, "ALTER TABLE rebuilt ADD COLUMN x INT", "RENAME TABLE " + table + " TO old, rebuilt TO " + table,
			"ALTER TABLE " + table + " DROP COLUMN x", "DROP TABLE old"}
	}
	return []fixCase{
		{kind: CounterBehind, name: "resource", broken: rebuilt("project"), sql: "ALTER TABLE `project` AUTO_INCREMENT = 6"},
		{other: true, kind: CounterBehind, name: "table", broken: rebuilt("ticket"), sql: "ALTER TABLE `ticket` AUTO_INCREMENT = 4"},
		{other: true, kind: CounterBehind, name: "one before that", broken: []string{"UPDATE old_ticket SET id = 4294967293"}, sql: "AUTO_INCREMENT = 4294967294"},
		{other: true, kind: CounterSpent, name: "the last but one", broken: []string{"UPDATE old_ticket SET id = 4294967294"}},
		{other: true, kind: CounterSpent, name: "the next one is the last", broken: []string{"ALTER TABLE ticket AUTO_INCREMENT = 4294967295"}, says: "AUTO_INCREMENT is 4294967295"},
		{other: true, kind: CounterSpent, name: "unsigned", broken: []string{"UPDATE old_ticket SET id = 4294967295"}, recipe: []string{"ALTER TABLE ticket MODIFY id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT", "ALTER TABLE old_ticket MODIFY id BIGINT UNSIGNED NOT NULL"},
			may: []string{"ticket.id column_type"}, left: []Kind{CounterBehind}},
		{kind: CounterSpent, name: "signed", broken: []string{"UPDATE project_archive SET id = 9223372036854775807 WHERE id = 5"}},
	}
}

func keyFixes() []fixCase {
	return []fixCase{
		{other: true, kind: KeyMissing, name: "that of the plan", broken: []string{"ALTER TABLE grade DROP PRIMARY KEY"}, sql: "ADD PRIMARY KEY (`id`)"},
		{other: true, kind: KeyMissing, name: "a unique one", broken: []string{"ALTER TABLE grade DROP PRIMARY KEY, CHANGE id no INT NOT NULL, ADD UNIQUE KEY (no)"}, sql: "ADD PRIMARY KEY (`no`)", left: []Kind{KeyOther}},
		{other: true, kind: KeyMissing, name: "none", broken: []string{"ALTER TABLE grade DROP PRIMARY KEY, CHANGE id no INT NULL"}, sql: "ADD COLUMN `id` BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY"},
		{other: true, kind: KeyMissing, name: "numbered", broken: []string{"ALTER TABLE grade DROP PRIMARY KEY, CHANGE id no INT NOT NULL AUTO_INCREMENT, ADD KEY (no)"}, sql: "ADD PRIMARY KEY (`no`)", left: []Kind{KeyOther}},
		{other: true, kind: KeyOther, name: "archive", broken: []string{"ALTER TABLE old_pupil DROP PRIMARY KEY, ADD PRIMARY KEY (name, school)"}, sql: "DROP PRIMARY KEY, ADD PRIMARY KEY (`name`)", may: []string{"old_pupil key PRIMARY"}},
		{other: true, kind: KeyOther, name: "archive that says more", broken: []string{"ALTER TABLE old_pupil DROP PRIMARY KEY, ADD PRIMARY KEY (school)"}, sql: "ADD UNIQUE KEY `school` (`school`)", may: []string{"old_pupil key PRIMARY"}},
		{other: true, kind: KeyOther, name: "plan", plan: func(p *schema.Plan) { p.Tables[0].Key = []string{"no", "school"} }},
		{other: true, kind: KeyInexact, name: "DOUBLE", broken: []string{"ALTER TABLE grade MODIFY id DOUBLE NOT NULL"}},
		{other: true, kind: AssetMissing, name: "asset", broken: []string{"ALTER TABLE note DROP COLUMN file"}},
	}
}

func edgeFixes() []fixCase {
	return []fixCase{
		{other: true, kind: EdgeMissing, name: "column", broken: []string{"ALTER TABLE grade DROP COLUMN pupil"}},
		{other: true, kind: ReferenceGone, name: "column", plan: func(p *schema.Plan) { p.Tables[2].Parents[0].References = []string{"number"} }},
		{other: true, kind: ReferenceTwice, name: "column", plan: func(p *schema.Plan) { p.Tables[2].Parents[0].References = []string{"friend"} }, broken: []string{"UPDATE old_pupil SET friend = NULL"}, sql: "ADD UNIQUE KEY (`friend`)"},
		{other: true, kind: EdgeUnindexed, name: "edge", broken: []string{"ALTER TABLE grade DROP KEY pupil"}, sql: "ADD KEY (`pupil`)"},
		{other: true, kind: EdgeUnindexed, name: "condition", broken: []string{"ALTER TABLE note DROP KEY about"}, sql: "ADD KEY (`kind`, `about`)"},
		{other: true, kind: EdgeUnindexed, name: "TEXT", broken: []string{"ALTER TABLE grade DROP KEY pupil, MODIFY pupil TEXT COLLATE utf8mb4_unicode_ci NOT NULL"}},
		{other: true, kind: EdgeUnindexed, name: "long", broken: []string{"ALTER TABLE grade DROP KEY pupil, MODIFY pupil VARCHAR(1000) COLLATE utf8mb4_unicode_ci NOT NULL"}},
		{other: true, kind: RetentionUnindexed, name: "leaf", broken: []string{"ALTER TABLE grade ADD COLUMN given_at DATETIME NULL"}, sql: "ADD KEY (`given_at`)", plan: func(p *schema.Plan) {
			p.Tables[2].Retention = &schema.Retention{Column: "given_at", Keep: schema.Age(24 * time.Hour)}
		}},
		{other: true, kind: RetentionColumn, name: "type", broken: []string{"ALTER TABLE grade ADD COLUMN given_at VARCHAR(20) NULL"}, says: "the age of rows", plan: func(p *schema.Plan) {
			p.Tables[2].Retention = &schema.Retention{Column: "given_at", Keep: schema.Age(24 * time.Hour)}
		}},
		{other: true, kind: EdgeType, name: "collation", broken: []string{"ALTER TABLE grade MODIFY pupil VARCHAR(60) COLLATE utf8mb4_bin NOT NULL DEFAULT 'n''o' COMMENT 'whose'"}, sql: "`pupil` varchar(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci NOT NULL DEFAULT", may: []string{"grade.pupil collation_name"}},
		{other: true, kind: EdgeType, name: "character set", broken: []string{"ALTER TABLE grade MODIFY pupil VARCHAR(40) CHARACTER SET latin1 NOT NULL"}},
		{other: true, kind: EdgeType, name: "unsigned", broken: []string{"DELETE FROM pupil WHERE name = 'bob'", "ALTER TABLE pupil MODIFY school INT NOT NULL", "ALTER TABLE old_pupil MODIFY school INT NOT NULL"}, says: "unsigned"},
		{other: true, kind: EdgeType, name: "text and number", broken: []string{"ALTER TABLE pupil MODIFY class_no VARCHAR(10) NOT NULL", "ALTER TABLE old_pupil MODIFY class_no VARCHAR(10) NOT NULL"}, says: "converted"},
		{other: true, kind: EdgeInexact, name: "DOUBLE", broken: []string{"ALTER TABLE grade ADD COLUMN whose DOUBLE NULL, ADD KEY (whose)"}, says: "cannot be held", plan: func(p *schema.Plan) {
			p.Tables[2].Parents = append(p.Tables[2].Parents, schema.Edge{Table: "ticket", Columns: []string{"whose"}})
		}},
		{other: true, kind: EdgeUnindexed, name: "mark", broken: []string{"ALTER TABLE note ADD COLUMN gone DATETIME(6) NULL"}, plan: mark, says: "each row that is marked already", sql: "ADD KEY (`grade_id`, `gone`)"},
		{other: true, kind: EdgeType, name: "mark", broken: []string{"ALTER TABLE note ADD COLUMN gone INT NULL, ADD KEY mark (grade_id, gone)"}, plan: mark, says: "the plan puts the time into it"},
		{other: true, kind: DetachNotNull, name: "mark", broken: []string{"ALTER TABLE note ADD COLUMN gone TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), ADD KEY mark (grade_id, gone)"}, plan: mark, says: "no row of it is without the mark"},
		{other: true, kind: DetachComputed, name: "mark", broken: []string{"ALTER TABLE note ADD COLUMN gone DATETIME AS (NULL) STORED, ADD KEY mark (grade_id, gone)"}, plan: mark, says: "it cannot change"},
		{other: true, kind: DetachNotNull, name: "default", broken: []string{"UPDATE pupil SET friend = 'Ann'", "ALTER TABLE pupil MODIFY friend VARCHAR(40) COLLATE utf8mb4_unicode_ci NOT NULL DEFAULT 'n' COMMENT 'it''s NOT NULL'"}, sql: "`friend` varchar(40)", may: []string{"pupil.friend is_nullable"}},
		{other: true, kind: DetachNotNull, name: "of the key", broken: []string{"ALTER TABLE old_pupil DROP PRIMARY KEY, ADD PRIMARY KEY (name, friend)"}, says: "detaches it", may: []string{"old_pupil key PRIMARY"}},
		{other: true, kind: DetachComputed, name: "generated", broken: []string{"ALTER TABLE pupil DROP KEY friend, DROP COLUMN friend, ADD COLUMN friend VARCHAR(40) COLLATE utf8mb4_unicode_ci AS (UPPER(name)) STORED, ADD KEY friend (friend)"}},
	}
}

// mark has notes marked when their grade goes.
func mark(p *schema.Plan) { p.Tables[3].Parents[1].OnDelete = schema.OnDeleteMark("gone") }

func foreignFixes() []fixCase {
	const fk = " ADD CONSTRAINT fk FOREIGN KEY "
	detach := func(p *schema.Plan) { p.Tables[3].Parents[1].OnDelete = schema.OnDeleteDetach }
	remove := func(p *schema.Plan) { p.Tables[3].Parents[1].OnDelete = schema.OnDeleteDelete }
	return []fixCase{
		{kind: ForeignManaged, name: "from elsewhere", broken: []string{"CREATE TABLE tag (id INT PRIMARY KEY, project_id BIGINT NULL, the_row INT)", "INSERT INTO tag VALUES (1, 1, 0)", "ALTER TABLE tag" + fk + "(project_id) REFERENCES project (id) ON DELETE CASCADE"}, sql: "ALTER TABLE `tag` DROP FOREIGN KEY `fk`", may: []string{"constraint fk"}},
		{kind: ForeignOutward, name: "cascade", broken: []string{"CREATE TABLE user (id BIGINT PRIMARY KEY, the_row INT)", "INSERT INTO user VALUES (7, 0)", "ALTER TABLE project" + fk + "(user_id) REFERENCES user (id) ON DELETE CASCADE"}, sql: "ALTER TABLE `project` DROP FOREIGN KEY `fk`", may: []string{"constraint fk"}},
		{other: true, kind: ForeignUnknown, name: "cascade", broken: []string{"CREATE TABLE prize (id INT PRIMARY KEY, grade_id INT, the_row INT)", "ALTER TABLE prize" + fk + "(grade_id) REFERENCES grade (id) ON DELETE CASCADE"}},
		{other: true, kind: ForeignEdgeless, name: "edge", broken: []string{"ALTER TABLE note" + fk + "(grade_id) REFERENCES grade (id)"}, plan: func(p *schema.Plan) { p.Tables[3].Parents = p.Tables[3].Parents[:1] }},
		{other: true, kind: ForeignConflict, name: "kept", broken: []string{"ALTER TABLE note" + fk + "(grade_id) REFERENCES grade (id)"}, sql: "DROP FOREIGN KEY `fk`", may: []string{"constraint fk"}},
		{other: true, kind: ForeignConflict, name: "marked", broken: []string{"ALTER TABLE note ADD COLUMN gone DATETIME NULL, ADD KEY mark (grade_id, gone)," + fk + "(grade_id) REFERENCES grade (id)"}, plan: mark, sql: "DROP FOREIGN KEY `fk`", may: []string{"constraint fk"}},
		{other: true, kind: ForeignConflict, name: "condition", broken: []string{"ALTER TABLE note" + fk + "(about) REFERENCES pupil (name)"}, sql: "DROP FOREIGN KEY `fk`", may: []string{"constraint fk"}},
		{other: true, kind: ForeignConflict, name: "detached", broken: []string{"ALTER TABLE note" + fk + "(grade_id) REFERENCES grade (id) ON DELETE CASCADE ON UPDATE CASCADE"}, plan: detach, sql: "ON DELETE RESTRICT ON UPDATE CASCADE", may: []string{"constraint fk"}},
		{other: true, kind: ForeignConflict, name: "deleted", broken: []string{"ALTER TABLE note" + fk + "(grade_id) REFERENCES grade (id) ON DELETE SET NULL"}, plan: remove, sql: "ADD CONSTRAINT `fk_2` FOREIGN KEY (`grade_id`) REFERENCES `grade` (`id`) ON DELETE RESTRICT", may: []string{"constraint fk"}},
		{other: true, kind: ForeignUpdate, name: "detached", broken: []string{"UPDATE old_pupil SET friend = NULL", "ALTER TABLE pupil ADD UNIQUE KEY (friend)", "ALTER TABLE old_pupil ADD UNIQUE KEY (friend)",
			"ALTER TABLE grade ADD COLUMN via VARCHAR(40) COLLATE utf8mb4_unicode_ci NULL, ADD CONSTRAINT fk FOREIGN KEY (via) REFERENCES pupil (friend) ON UPDATE CASCADE"},
			plan: func(p *schema.Plan) {
				p.Tables[2].Parents = append(p.Tables[2].Parents, schema.Edge{Table: "pupil", Columns: []string{"via"}, References: []string{"friend"}})
			}},
	}
}

func toolkitFixes() []fixCase {
	return []fixCase{
		{kind: ToolkitColumn, name: "type", tool: true, broken: []string{"ALTER TABLE onerow_request MODIFY request_id VARCHAR(255) NOT NULL"}},
		{kind: IndexMissing, name: "toolkit's, unique", tool: true, broken: []string{"ALTER TABLE onerow_job DROP INDEX one_open"}, sql: "ALTER TABLE `onerow_job` ADD UNIQUE KEY `one_open` (`resource`, `resource_id`)"},
		{kind: IndexMissing, name: "toolkit's, primary", tool: true, broken: []string{"ALTER TABLE onerow_request DROP PRIMARY KEY"}, sql: "ALTER TABLE `onerow_request` ADD PRIMARY KEY (`resource`, `owner`, `request_id`)", may: []string{"onerow_request key PRIMARY"}},
		{kind: IndexMissing, name: "toolkit's, due", tool: true, broken: []string{"ALTER TABLE onerow_job DROP INDEX due"}, sql: "ALTER TABLE `onerow_job` ADD KEY `due` (`resource`, `due_at`, `state`)"},
		{kind: IndexMissing, name: "toolkit's, state", tool: true, broken: []string{"ALTER TABLE onerow_job_archive DROP INDEX state"}, sql: "ALTER TABLE `onerow_job_archive` ADD KEY `state` (`state`, `id`)"},
		{kind: CounterBehind, name: "jobs", tool: true, broken: []string{"INSERT INTO onerow_job_count VALUES (41, 'x', 1)"}, sql: "ALTER TABLE `onerow_job` AUTO_INCREMENT = 42"},
		{kind: CounterBehind, name: "archived jobs", tool: true, broken: []string{
			"INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at) VALUES (9, 'p', '1', 17, 'done', NOW(6), 1, 1, 0, NOW(6), NOW(6))"},
			sql: "ALTER TABLE `onerow_job` AUTO_INCREMENT = 10"},
		{kind: CounterBehind, name: "deletions", tool: true, broken: []string{
			"INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at) VALUES ('p', '1', 17, 'ready', NOW(6), NOW(6))"},
			says: "holds the deletion_id 17", sql: "ALTER TABLE `onerow_deletion` AUTO_INCREMENT = 18"},
	}
}
