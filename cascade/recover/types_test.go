package recover_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/schematest"
	"github.com/onerow/onerow/internal/zonetest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// typesDDL has a column of every kind that a row can lose something of.
var typesDDL = []string{
	"CREATE TABLE root (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB",
	`CREATE TABLE thing (
  id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, up INT NULL,
  bi BIT(13), bn BINARY(4), vb VARBINARY(9), bl LONGBLOB, tx MEDIUMTEXT CHARACTER SET latin1, vc VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci,
  de DECIMAL(30,10), fl FLOAT, db DOUBLE, ub BIGINT UNSIGNED NOT NULL,
  da DATE NOT NULL, dt DATETIME(3) NOT NULL, ts TIMESTAMP(6) NULL, ti TIME(2), ye YEAR,
  en ENUM('a', 'b''c', 'ü') CHARACTER SET utf8mb4, se SET('x', 'y', 'z'), js JSON, ge GEOMETRY,
  vi INT AS (LENGTH(vb)) VIRTUAL, st INT AS (hid + 1) STORED, hid INT DEFAULT 5 INVISIBLE,
  moved TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
  UNIQUE KEY ub (ub), KEY up (up), CHECK (ub > 0), FOREIGN KEY (up) REFERENCES root (id)
) ENGINE=InnoDB`,
	"CREATE TABLE beside (id INT NOT NULL PRIMARY KEY, up INT NULL, at TIMESTAMP(6) NULL, KEY up (up), FOREIGN KEY (up) REFERENCES root (id)) ENGINE=InnoDB",
	"INSERT INTO root VALUES (-7), (3)",
	`INSERT INTO thing (id, up, bi, bn, vb, bl, tx, vc, de, fl, db, ub, da, dt, ts, ti, ye, en, se, js, ge, hid, moved) VALUES
  (0, -7, b'1010101010101', x'00ff0000', x'00', x'00ff27', 'grüß', 'a\0''b  ', -12345678901234567890.0123456789, 3.4028235e38, 1.7976931348623157e308, 18446744073709551615,
   '0000-00-00', '2026-02-31 00:00:00.123', '1970-01-01 00:00:01.000001', '-838:59:59', 1901, 'b''c', 'x,z', '{"b": 1.50, "a": [null, "\\u00e9"]}', ST_GeomFromText('POINT(1.1 -2)'), NULL, '2001-02-03 04:05:06.789012'),
  (5, -7, b'0', x'20202020', '', '', '', '', 0, -1.5e-38, -2.2250738585072014e-308, 1,
   '2026-00-00', '0000-00-00 00:00:00', NULL, '00:00:00.01', 0, 'ü', '', '[]', NULL, 6, '2038-01-19 03:14:07'),
  (7, -7, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 3, '2026-10-25', '2026-10-25 02:30:00', '2026-10-25 00:30:00', NULL, NULL, NULL, NULL, NULL, NULL, 7, '2026-10-25 01:30:00'),
  (8, -7, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 4, '2026-10-25', '2026-10-25 02:30:00', '2026-10-25 01:30:00', NULL, NULL, NULL, NULL, NULL, NULL, 7, '2026-10-25 00:30:00'),
  (6, -7, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, '9999-12-31', '9999-12-31 23:59:59.999', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 7, '2020-01-01')`,
	"INSERT INTO beside VALUES (0, -7, '2000-01-01 00:00:00.5'), (1, 3, NULL)",
}

// TestTrashTypes: every value of every type comes back as it was, whatever the session's sql_mode and time
// zone.
func TestTrashTypes(t *testing.T) {
	for name, mode := range map[string]string{
		"strict": "'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,ANSI_QUOTES'", "loose": "'NO_BACKSLASH_ESCAPES'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := dbtest.DSN(t)
			db, ctx := dbtest.OpenDSN(t, dsn), t.Context()
			setup, err := db.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, statement := range append([]string{"SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES', time_zone = '+00:00'"}, typesDDL...) {
				if _, err := setup.ExecContext(ctx, statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
			autumn := zonetest.Clockwork(t, db)
			if err := errors.Join(setup.Close(), migrations.Up(ctx, db)); err != nil {
				t.Fatal(err)
			}
			plan := schema.Plan{Trash: schema.Age(time.Hour), Tables: []schema.Table{
				{Name: "root", Key: []string{"id"}},
				{Name: "thing", Key: []string{"id"}, Parents: []schema.Edge{{Table: "root", Columns: []string{"up"}}}},
				{Name: "beside", Key: []string{"id"}, Parents: []schema.Edge{{Table: "root", Columns: []string{"up"}, OnDelete: schema.OnDeleteDetach}}},
			}}
			if err := createTrash(ctx, db, plan); err != nil {
				t.Fatal(err)
			}
			if err := live.Verify(ctx, db, plan); err != nil {
				t.Fatal(err)
			}
			before, err := schematest.Read(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			cfg, err := mysql.ParseDSN(dsn)
			if err != nil {
				t.Fatal(err)
			}
			cfg.Params["sql_mode"], cfg.Params["time_zone"] = mode, "'"+autumn+"'"
			worker := dbtest.OpenDSN(t, cfg.FormatDSN())
			w, err := cascade.NewWorker(worker, plan, cascade.Config{MaxFailures: 1})
			if err != nil {
				t.Fatal(err)
			}
			job, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: "root", ResourceID: "-7"})
			if err == nil {
				err = w.Drain(ctx)
			}
			if err == nil {
				job, err = queue.Get(ctx, db, job.ID)
			}
			if err != nil || job.State != queue.Done || job.DeletedRows != 5 {
				t.Fatalf("%+v, %v", job, err)
			}
			_, p, err := recover.Job(ctx, worker, plan, job.ID, recover.Options{})
			if err != nil || p.Rows != 6 || p.References != 1 || p.Stuck > 0 {
				t.Fatalf("%+v, %v", p, err)
			}
			got, err := before.Again(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			if diff := schematest.Diff(before, got); len(diff) > 0 {
				t.Error(strings.Join(diff, "\n"))
			}
		})
	}
}
