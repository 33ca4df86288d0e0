package cascade

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
)

// plans remembers, for people, what is behind the fingerprints that jobs are begun under. Nothing is
// decided by it: where it cannot be written or read, an error names fingerprints.
type plans struct {
	fingerprint string
	at          time.Time
}

// plansEvery is how often a worker says that a description is still in use.
const plansEvery = 24 * time.Hour

// sqlRemember writes a description once, by the primary key, and later only that it is in use. sqlForget
// walks the index stored_at; sqlDescribed reads by the primary key.
const (
	sqlRemember = `INSERT INTO onerow_plan (fingerprint, description, stored_at) VALUES (?, ?, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE stored_at = VALUES(stored_at)`
	sqlForget    = `DELETE FROM onerow_plan WHERE stored_at < UTC_TIMESTAMP(6) - INTERVAL 400 DAY ORDER BY stored_at LIMIT 10`
	sqlDescribed = `SELECT description FROM onerow_plan WHERE fingerprint = ?`
)

// maxPlan bounds what is stored, and what is read back, compressed and not.
const (
	maxStoredPlan = 4 << 20
	maxPlan       = 64 << 20
)

// remember stores the description of a graph, unless it has lately. Two statements, or none.
func (p *plans) remember(ctx context.Context, db onerow.DB, g *graph.Graph) {
	if p.fingerprint == g.Fingerprint && time.Since(p.at) < plansEvery {
		return
	}
	p.fingerprint, p.at = g.Fingerprint, time.Now()
	var text bytes.Buffer
	zip := gzip.NewWriter(&text)
	if _, err := io.WriteString(zip, g.Description); err != nil || zip.Close() != nil || text.Len() > maxStoredPlan {
		return
	}
	_, err := db.ExecContext(ctx, sqlRemember, []byte(g.Fingerprint), text.Bytes())
	if err == nil {
		_, err = db.ExecContext(ctx, sqlForget)
	}
	if err != nil {
		p.fingerprint = "" // again with the next look at the catalog
	}
}

// readPlan is the description behind a fingerprint; "" if nobody knows it. One statement.
func readPlan(ctx context.Context, db onerow.DB, fingerprint string) string {
	var text []byte
	if err := onerow.QueryRow(ctx, db, sqlDescribed, []any{[]byte(fingerprint)}, &text); err != nil {
		return ""
	}
	zip, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return ""
	}
	plain, err := io.ReadAll(io.LimitReader(zip, maxPlan))
	if err != nil {
		return ""
	}
	return string(plain)
}
