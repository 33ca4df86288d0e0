package inspect

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

type sweep struct {
	db     onerow.DB
	store  AssetStore
	o      SweepOptions
	fn     func(Finding) error
	tables []assetTable
	chunk  int // names in a question
	now    time.Time
	seen   Swept
	found  int
}

// assetTable is a table with a column that names assets.
type assetTable struct {
	*graph.Table
	asset string // the column, quoted
	bytes bool   // the column holds bytes, not text
	plain bool   // an index on it can be used: bytes, or text in utf8mb4
	only  string // condition on rows that count
}

// assetPlan is what of the plan names assets, without its edges: who sweeps need not see the other tables.
func assetPlan(plan schema.Plan) (only schema.Plan) {
	only.Trash = plan.Trash
	for _, r := range plan.Resources {
		if r.Asset != "" {
			r.Parent, r.Parents, r.Quota = schema.Parent{}, nil, schema.Quota{}
			only.Resources = append(only.Resources, r)
		}
	}
	for _, t := range plan.Tables {
		if t.Asset != "" {
			t.Parents = nil
			only.Tables = append(only.Tables, t)
		}
	}
	return only
}

func newAssetTable(found *graph.Table, grace time.Duration) assetTable {
	kind := strings.ToLower(found.Asset.Type)
	t := assetTable{Table: found, asset: ident.Quote(found.Asset.Name)}
	t.bytes = strings.HasSuffix(kind, "binary") || strings.HasSuffix(kind, "blob")
	t.plain = t.bytes || strings.EqualFold(found.Asset.Charset, "utf8mb4")
	if found.Node.Managed {
		t.only = fmt.Sprintf(" AND %s < UTC_TIMESTAMP(6) - INTERVAL %d MICROSECOND", ident.ColUpdatedAt, grace.Microseconds())
		if !found.Active {
			t.only += fmt.Sprintf(" AND %s IS NULL", ident.ColDeletionID)
		}
	}
	return t
}

// nameSQL reads the bytes of the name, as the driver gives them to the worker.
func (t assetTable) nameSQL() string {
	if t.bytes {
		return "HEX(" + t.asset + ")"
	}
	return "HEX(CONVERT(" + t.asset + " USING utf8mb4))"
}

// namedSQL asks for rows with one of the names, and perhaps a few that the collation
// takes for the same; the caller compares bytes. Empty: no row can have one.
func (t assetTable) namedSQL(chunk []object) string {
	var b strings.Builder
	for _, o := range chunk {
		switch {
		case t.bytes:
			b.WriteString(", x'" + hex.EncodeToString([]byte(o.name)) + "'")
		case utf8.ValidString(o.name): // other bytes are in no column of text
			b.WriteString(", _utf8mb4 x'" + hex.EncodeToString([]byte(o.name)) + "'")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	column := t.asset
	if !t.plain {
		column = "CONVERT(" + t.asset + " USING utf8mb4)"
	}
	query := fmt.Sprintf("SELECT DISTINCT %s FROM %s WHERE %s IN (%s)", t.nameSQL(), t.From, column, b.String()[2:])
	if t.Trash != nil { // a row that can come back has its asset
		query += fmt.Sprintf(" UNION ALL SELECT DISTINCT %s FROM %s WHERE %s IN (%s)", t.nameSQL(), t.Trash.From, column, b.String()[2:])
	}
	return query
}

// named asks all tables, in one statement and so from one snapshot, which of the objects
// a row names: a row that moves between its tables is in one of them.
func (s *sweep) named(ctx context.Context, chunk []object) (map[string]bool, error) {
	var parts []string
	for _, t := range s.tables {
		if query := t.namedSQL(chunk); query != "" {
			parts = append(parts, query)
		}
	}
	names := map[string]bool{}
	if len(chunk) == 0 || len(parts) == 0 {
		return names, nil
	}
	err := onerow.Query(ctx, s.db, strings.Join(parts, " UNION ALL "), nil, func(rows *sql.Rows) error {
		var digits string
		if err := rows.Scan(&digits); err != nil {
			return err
		}
		name, err := hex.DecodeString(digits)
		names[string(name)] = true
		return err
	})
	return names, err
}

type assetRow struct {
	key  rowkey.Key
	name string
}

// rows goes through all rows that name an asset, in pages along the primary key.
func (s *sweep) rows(ctx context.Context) error {
	for _, t := range s.tables {
		var after rowkey.Place
		for {
			page, last, err := s.page(ctx, t, t.pageSQL(after))
			if err != nil {
				return err
			}
			if err := s.withoutObject(ctx, t, page); err != nil {
				return err
			}
			if len(page) < sweepChunk {
				break
			}
			after = last
		}
	}
	return nil
}

func (t assetTable) selectSQL() string {
	return fmt.Sprintf("SELECT %s, %s, %s FROM %s", t.Key.Select(""), t.Key.Ordered().Select(""), t.nameSQL(), t.From)
}

// pageSQL reads along the primary key.
func (t assetTable) pageSQL(after rowkey.Place) string {
	query := fmt.Sprintf("%s FORCE INDEX (PRIMARY) WHERE %s <> ''%s", t.selectSQL(), t.asset, t.only)
	if after != nil {
		query += " AND " + t.Key.Ordered().After("", after)
	}
	return fmt.Sprintf("%s ORDER BY %s LIMIT %d", query, ident.Quotes(t.Key.Names()...), sweepChunk)
}

func (s *sweep) page(ctx context.Context, t assetTable, query string) (page []assetRow, last rowkey.Place, err error) {
	err = graph.ReadColumns(ctx, s.db, t.Key, query, nil, func(key rowkey.Key, rest []sql.NullString) error {
		last = t.Key.Ordered().Place(rest)
		name, err := hex.DecodeString(rest[len(rest)-1].String)
		page = append(page, assetRow{key, string(name)})
		return err
	})
	return page, last, err
}

// withoutObject finds those of the rows whose object is not there.
func (s *sweep) withoutObject(ctx context.Context, t assetTable, page []assetRow) error {
	page = slices.DeleteFunc(page, func(r assetRow) bool { return !strings.HasPrefix(r.name, s.o.Prefix) })
	s.seen.Rows += int64(len(page))
	names := make([]string, len(page))
	for i, r := range page {
		names[i] = r.name
	}
	if len(names) == 0 {
		return nil
	}
	missing, err := s.store.Missing(ctx, names)
	if err != nil || len(missing) == 0 {
		return err
	}
	page = slices.DeleteFunc(page, func(r assetRow) bool { return !slices.Contains(missing, r.name) })
	keys := make([]rowkey.Key, len(page))
	for i, r := range page {
		keys[i] = r.key
	}
	// The worker deletes the object first and then the row, and an upload names another.
	still, _, err := s.page(ctx, t, fmt.Sprintf("%s WHERE %s%s", t.selectSQL(), t.Key.In("", keys), t.only))
	if err != nil {
		return err
	}
	for _, r := range page {
		if !slices.Contains(still, r) {
			continue
		}
		s.seen.MissingObject++
		id, err := t.Key.Encode(r.key)
		if err != nil {
			return err
		}
		if err := s.tell(Finding{Kind: rowWithoutObject, Name: r.name, Table: t.Name, ID: id}); err != nil {
			return err
		}
	}
	return nil
}
