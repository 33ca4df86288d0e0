package cascade

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// ErrNoAssets means that no table of a plan names assets.
var ErrNoAssets = errors.New("cascade: the plan names no assets")

// sweep is a sweep under way.
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
	name   string
	asset  string // the column, quoted
	bytes  bool   // the column holds bytes, not text
	plain  bool   // an index on it can be used: bytes, or text in utf8mb4
	key    rowkey.Codec
	order  []rowkey.Codec // of the key's columns
	column []string       // of the key
	only   string         // condition on rows that count
}

// sqlClock is the database's clock.
const sqlClock = `SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))`

func newSweep(ctx context.Context, db onerow.DB, plan schema.Plan, store AssetStore, o SweepOptions, fn func(Finding) error) (*sweep, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	cat, err := schema.Inspect(ctx, db)
	if err != nil {
		return nil, err
	}
	s := &sweep{db: db, store: store, o: o, fn: fn, chunk: sweepChunk}
	for _, n := range plan.Nodes() {
		if n.Asset == "" {
			continue
		}
		for i, table := range n.Tables {
			t, err := newAssetTable(cat, n, table)
			if err != nil {
				return nil, err
			}
			if n.Managed {
				t.only = fmt.Sprintf(" AND t.%s < UTC_TIMESTAMP(6) - INTERVAL %d MICROSECOND", schema.ColUpdatedAt, o.Grace.Microseconds())
				if i > 0 {
					t.only += fmt.Sprintf(" AND t.%s IS NULL", schema.ColDeletionID)
				}
			}
			if _, ok := cat.Index(table, []string{n.Asset}); !ok || !t.plain {
				s.chunk, s.seen.Unindexed = sweepBigChunk, append(s.seen.Unindexed, table)
			}
			s.tables = append(s.tables, t)
		}
	}
	if len(s.tables) == 0 {
		return nil, ErrNoAssets
	}
	var micros int64
	if err := onerow.QueryRow(ctx, db, sqlClock, nil, &micros); err != nil {
		return nil, err
	}
	s.now = time.UnixMicro(micros)
	return s, nil
}

func newAssetTable(cat *schema.Catalog, n schema.Node, table string) (t assetTable, err error) {
	info, ok := cat.Column(table, n.Asset)
	if !ok {
		return t, fmt.Errorf("%w: there is no column %q in a table %q", rowkey.ErrType, n.Asset, table)
	}
	kind := strings.ToLower(info.Type)
	t = assetTable{name: table, asset: "t." + schema.Quote(n.Asset), column: n.Key}
	t.bytes = strings.HasSuffix(kind, "binary") || strings.HasSuffix(kind, "blob")
	t.plain = t.bytes || strings.EqualFold(info.Charset, "utf8mb4")
	if t.key, err = rowkey.New(cat, table, n.Key); err != nil {
		return t, err
	}
	for _, column := range n.Key {
		c, err := rowkey.New(cat, table, []string{column})
		if err != nil {
			return t, err
		}
		t.order = append(t.order, c.Ordered())
	}
	return t, nil
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
	return fmt.Sprintf("SELECT DISTINCT %s FROM %s AS t WHERE %s IN (%s)", t.nameSQL(), schema.Quote(t.name), column, b.String()[2:])
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

// assetRow is a row that names an object.
type assetRow struct {
	key  rowkey.Key
	name string
}

// rows goes through all rows that name an asset, in pages along the primary key.
func (s *sweep) rows(ctx context.Context) error {
	for _, t := range s.tables {
		var after indexPlace
		for {
			page, last, err := s.page(ctx, t, t.sqlPage(after))
			if err != nil {
				return err
			}
			if err := s.bare(ctx, t, page); err != nil {
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
	list := []string{t.key.Select("t")}
	for _, c := range t.order {
		list = append(list, c.Select("t"))
	}
	return fmt.Sprintf("SELECT %s, %s FROM %s AS t", strings.Join(list, ", "), t.nameSQL(), schema.Quote(t.name))
}

// sqlPage reads along the primary key.
func (t assetTable) sqlPage(after indexPlace) string {
	query := fmt.Sprintf("%s FORCE INDEX (PRIMARY) WHERE %s <> ''%s", t.selectSQL(), t.asset, t.only)
	if after != nil {
		query += " AND " + behind("t", t.column, after)
	}
	order := make([]string, len(t.column))
	for i, column := range t.column {
		order[i] = "t." + schema.Quote(column)
	}
	return fmt.Sprintf("%s ORDER BY %s LIMIT %d", query, strings.Join(order, ", "), sweepChunk)
}

func (s *sweep) page(ctx context.Context, t assetTable, query string) (page []assetRow, last indexPlace, err error) {
	err = onerow.Query(ctx, s.db, query, nil, func(rows *sql.Rows) error {
		width := t.key.Width()
		values, targets := make([]sql.NullString, 2*width+1), []any{}
		for i := range values {
			targets = append(targets, &values[i])
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		key, _ := t.key.Key(values[:width])
		last = make(indexPlace, width)
		for i, c := range t.order {
			part, _ := c.Key(values[width+i:][:1])
			last[i] = string(part)
		}
		name, err := hex.DecodeString(values[2*width].String)
		page = append(page, assetRow{key, string(name)})
		return err
	})
	return page, last, err
}

// bare finds those of the rows whose object is not there.
func (s *sweep) bare(ctx context.Context, t assetTable, page []assetRow) error {
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
	gone := map[string]bool{}
	for _, name := range missing {
		gone[name] = true
	}
	page = slices.DeleteFunc(page, func(r assetRow) bool { return !gone[r.name] })
	keys := make([]rowkey.Key, len(page))
	for i, r := range page {
		keys[i] = r.key
	}
	// The worker deletes the object first and then the row, and an upload names another.
	still, _, err := s.page(ctx, t, fmt.Sprintf("%s WHERE %s%s", t.selectSQL(), t.key.In("t", keys), t.only))
	if err != nil {
		return err
	}
	for _, r := range page {
		if !slices.Contains(still, r) {
			continue
		}
		if s.o.Limit > 0 && s.found >= s.o.Limit {
			return errEnough
		}
		s.seen.MissingObject++
		id, err := t.key.Encode(r.key)
		if err != nil {
			return err
		}
		if err := s.report(Finding{Kind: RowWithoutObject, Name: r.name, Table: t.name, ID: id}); err != nil {
			return err
		}
	}
	return nil
}
