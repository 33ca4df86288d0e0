package main

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
)

//go:embed schema_before.sql
var schemaBefore string

// digits is a table of the numbers 0 to 99,999, without any table.
const digits = `(SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS n FROM ` +
	ten + ` a, ` + ten + ` b, ` + ten + ` c, ` + ten + ` e, ` + ten + ` f) numbers`

const ten = `(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)`

// seeds fill the old tables; each ? is how many rows. Ids are hashes, as those of UUIDs are spread.
var seeds = []struct {
	percent int
	insert  string
}{
	{2, `INSERT INTO workspaces (id, tenant_id, name, created_at, updated_at) SELECT UNHEX(LEFT(SHA2(CONCAT('w', n), 256), 32)), n % 20 + 1, CONCAT('Desk №', n), '2019-01-01' + INTERVAL n MINUTE, '2020-01-01' + INTERVAL n MINUTE FROM ` + digits + ` WHERE n < ?`},
	{30, `INSERT INTO tickets (id, tenant_id, workspace_id, number, subject, status, priority, created_at, updated_at)
SELECT UNHEX(LEFT(SHA2(CONCAT('t', n), 256), 32)), w.tenant_id, w.id, n + 1, CONCAT('Ticket  №', n), ELT(n % 3 + 1, 'open', 'waiting', 'closed'), n % 5 + 1, '2021-01-01' + INTERVAL n MINUTE, '2022-01-01' + INTERVAL n MINUTE
FROM ` + digits + ` JOIN workspaces w ON w.id = UNHEX(LEFT(SHA2(CONCAT('w', n % %[1]d), 256), 32)) WHERE n < ?`},
	{40, `INSERT INTO messages (ticket_id, body, created_at) SELECT UNHEX(LEFT(SHA2(CONCAT('t', n % %[2]d), 256), 32)), CONCAT('It still does not work: ', n), '2022-01-01' + INTERVAL n MINUTE FROM ` + digits + ` WHERE n < ?`},
	{8, `INSERT INTO attachments (id, tenant_id, ticket_id, name, bytes, created_at)
SELECT UNHEX(LEFT(SHA2(CONCAT('a', n), 256), 32)), t.tenant_id, t.id, CONCAT('screen ', n, '.png'), 100 + n % 1000, '2022-01-01' + INTERVAL n MINUTE
FROM ` + digits + ` JOIN tickets t ON t.id = UNHEX(LEFT(SHA2(CONCAT('t', n % %[2]d), 256), 32)) WHERE n < ?`},
	{20, `INSERT INTO ticket_tag (ticket_id, tag_id) SELECT UNHEX(LEFT(SHA2(CONCAT('t', n % %[2]d), 256), 32)), n % 10 + 1 FROM ` + digits + ` WHERE n < ?`},
}

// Seed makes the old tables and about so many rows, at most 200,000; two workspaces have one name in two
// spellings.
func Seed(ctx context.Context, db onerow.DB, rows int) error {
	for stmt := range strings.SplitSeq(schemaBefore, ";\n") {
		if strings.TrimSpace(stmt) == "" {
			continue
		}
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("make the old tables: %w", err)
		}
	}
	for _, stmt := range []string{
		`INSERT INTO tenants (id, name) SELECT n + 1, CONCAT('Tenant ', n + 1) FROM ` + digits + ` WHERE n < 20`,
		`INSERT INTO tags (tenant_id, label) SELECT n % 20 + 1, CONCAT('tag ', n) FROM ` + digits + ` WHERE n < 10`,
		`INSERT INTO workspaces (id, tenant_id, name) VALUES (UNHEX(REPEAT('F', 32)), 1, 'desk  №20')`,
	} {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("seed: %w", err)
		}
	}
	part := func(percent int) int { return max(rows*percent/100, 21) }
	fill := strings.NewReplacer("%[1]d", fmt.Sprint(part(seeds[0].percent)), "%[2]d", fmt.Sprint(part(seeds[1].percent)))
	for _, s := range seeds {
		if _, err := db.ExecContext(ctx, fill.Replace(s.insert), part(s.percent)); err != nil {
			return fmt.Errorf("seed: %w", err)
		}
	}
	return nil
}

// empty says whether the database has none of the helpdesk's tables. One statement.
func empty(ctx context.Context, db *sql.DB) (bool, error) {
	var n int
	err := onerow.QueryRow(ctx, db, `SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name IN ('tenants', 'tickets')`, nil, &n)
	return n == 0, err
}
