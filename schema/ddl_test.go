package schema_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/schematest/livetest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// TestDDLText is the whole of it, once: what an application puts into its migration.
func TestDDLText(t *testing.T) {
	const want = "CREATE TABLE `project` (\n" +
		"  `id` BIGINT NOT NULL AUTO_INCREMENT,\n" +
		"  `user_id` BIGINT NOT NULL,\n" +
		"  `name` VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL,\n" +
		"  `name_key` VARBINARY(1020) NOT NULL,\n" +
		"  `stem_key` VARBINARY(1020) NOT NULL,\n" +
		"  `copy_no` INT NOT NULL DEFAULT 0,\n" +
		"  `is_over_quota` TINYINT NOT NULL DEFAULT 0,\n" +
		"  `version` BIGINT NOT NULL DEFAULT 1,\n" +
		"  `created_at` DATETIME(6) NOT NULL,\n" +
		"  `updated_at` DATETIME(6) NOT NULL,\n" +
		"  `position` INT NOT NULL DEFAULT 0,\n" +
		"  `note` VARCHAR(80) NOT NULL DEFAULT 'a, b',\n" +
		"  PRIMARY KEY (`id`),\n" +
		"  UNIQUE KEY `one_name` (`user_id`, `name_key`),\n" +
		"  KEY `next_copy` (`user_id`, `stem_key`, `copy_no`),\n" +
		"  KEY `owner_id` (`user_id`, `id`),\n" +
		"  KEY `quota_order` (`user_id`, `position`, `id`),\n" +
		"  KEY `quota_flag` (`user_id`, `is_over_quota`, `position`, `id`),\n" +
		"  UNIQUE KEY `note` (`note`),\n" +
		"  KEY `position_note` (`position`, `note`)\n" +
		") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4\n" +
		"CREATE TABLE `project_archive` (\n" +
		"  `id` BIGINT NOT NULL,\n" +
		"  `user_id` BIGINT NOT NULL,\n" +
		"  `name` VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL,\n" +
		"  `name_key` VARBINARY(1020) NOT NULL,\n" +
		"  `stem_key` VARBINARY(1020) NOT NULL,\n" +
		"  `copy_no` INT NOT NULL DEFAULT 0,\n" +
		"  `is_over_quota` TINYINT NOT NULL DEFAULT 0,\n" +
		"  `version` BIGINT NOT NULL DEFAULT 1,\n" +
		"  `created_at` DATETIME(6) NOT NULL,\n" +
		"  `updated_at` DATETIME(6) NOT NULL,\n" +
		"  `position` INT NOT NULL DEFAULT 0,\n" +
		"  `note` VARCHAR(80) NOT NULL DEFAULT 'a, b',\n" +
		"  `archived_at` DATETIME(6) NOT NULL,\n" +
		"  `deletion_id` BIGINT NULL,\n" +
		"  `deleted_from` VARBINARY(8) NULL,\n" +
		"  PRIMARY KEY (`id`),\n" +
		"  KEY `shown` (`user_id`, `deletion_id`, `id`)\n" +
		") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
	if diff := cmp.Diff(want, strings.Join(livetest.Plain().DDL()[:2], "\n")); diff != "" {
		t.Error(diff)
	}
}

// TestDDLRuns on this server, in strict mode and in the server's own, and makes what Verify wants; also where
// an application's index is called what one of the toolkit's is, and where names are as long as names can be.
func TestDDLRuns(t *testing.T) {
	long := func(c string) string { return strings.Repeat(c, 64) }
	plans := map[string]schema.Plan{
		"every kind": livetest.Plain(),
		"index names": {Resources: []schema.Resource{{
			Name: "t", Owner: "owner", Label: schema.Label{Column: "one"}, Quota: schema.Quota{Flag: "quota"},
			Columns: []schema.Column{{Name: "owner_id", Type: "INT NULL"}, {Name: "One_Name", Type: "INT NULL"}, {Name: "primary", Type: "INT NULL"}},
			Indexes: []schema.Index{{Columns: []string{"owner_id"}}, {Columns: []string{"owner_id"}, Unique: true}, {Columns: []string{"One_Name"}}, {Columns: []string{"primary"}}},
		}}},
		"long names": {Resources: []schema.Resource{{
			Name: long("r"), Active: long("ä"), Archive: long("ö"), ID: long("ü"), Owner: long("№"),
			Label: schema.Label{Column: long("漢"), Key: long("字")}, Quota: schema.Quota{Flag: long("é"), By: long("x"), Descending: true},
			Columns: []schema.Column{{Name: long("x"), Type: "DOUBLE NOT NULL"}, {Name: long("ß"), Type: "INT NULL"}},
			Indexes: []schema.Index{{Columns: []string{long("ß"), long("x")}}, {Columns: []string{long("ß")}}},
		}}},
	}
	for name, plan := range plans {
		for _, mode := range []string{"", "'STRICT_ALL_TABLES,NO_ZERO_DATE,ANSI_QUOTES,NO_BACKSLASH_ESCAPES,ERROR_FOR_DIVISION_BY_ZERO'"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				if err := plan.Check(); err != nil {
					t.Fatal(err)
				}
				db := livetest.Open(t, plan)
				if err := live.Verify(t.Context(), db, plan); err != nil {
					t.Error(err)
				}
				if mode == "" {
					return
				}
				strict := dbtest.Open(t, dbtest.Param("sql_mode", "%27"+strings.Trim(mode, "'")+"%27"))
				for _, stmt := range plan.DDL() {
					dbtest.Exec(t, strict, stmt)
				}
			})
		}
	}
}
