package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

const (
	listTables = `SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name`
	checksum   = "CHECKSUM TABLE `%s`"
)

// compare says which tables have not the same checksum on all servers. They may still be applying what was
// written, so tables that differ are looked at again for a while.
func compare(ctx context.Context, servers []*sql.DB) (differ []string, err error) {
	_, err = settled(ctx, patience, func() (bool, error) {
		differ, err = compareOnce(ctx, servers)
		return len(differ) == 0, err
	})
	return differ, err
}

func compareOnce(ctx context.Context, servers []*sql.DB) (differ []string, err error) {
	var first []string
	for i, db := range servers {
		tables, err := column(ctx, db, listTables)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = tables
		}
		if !slices.Equal(first, tables) {
			differ = append(differ, fmt.Sprintf("servers 0 and %d have other tables: %v, %v", i, first, tables))
		}
	}
	if len(first) == 0 {
		return nil, fmt.Errorf("soak: there are no tables")
	}
	if len(differ) > 0 {
		return differ, nil
	}
	for _, table := range first {
		sums := make([]string, len(servers))
		for i, db := range servers {
			var name string
			if err := db.QueryRowContext(ctx, fmt.Sprintf(checksum, table)).Scan(&name, &sums[i]); err != nil {
				return nil, fmt.Errorf("soak: checksum of %s on server %d: %w", table, i, err)
			}
		}
		if len(slices.Compact(slices.Clone(sums))) > 1 {
			differ = append(differ, fmt.Sprintf("table %s has the checksums %v on the servers", table, sums))
		}
	}
	return differ, nil
}

// column is a query of one text a row.
func column(ctx context.Context, db *sql.DB, query string) (all []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, fmt.Errorf("soak: %w", err)
		}
		all = append(all, text)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	return all, nil
}
