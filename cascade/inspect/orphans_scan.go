package inspect

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// orphanScan reads one edge of one table along its index.
type orphanScan struct {
	*graph.Source
	missing  string // the condition is met, and the row above is in none of its tables; AsText: dropSettled asks that
	keyOrder []int  // the place of each column of the parent's key among the edge's; nil: it refers to others
}

// orphanScans are all scans of the plan, in its order.
func orphanScans(ctx context.Context, db onerow.DB, plan schema.Plan, only string) ([]orphanScan, error) {
	if only != "" && !slices.ContainsFunc(plan.Nodes(), func(n schema.Node) bool { return n.Name == only || slices.Contains(n.Tables, only) }) {
		return nil, fmt.Errorf("%w: %q; the plan has %q", schema.ErrUnknownResource, only, plan.Names())
	}
	g, err := readGraph(ctx, db, plan)
	if err != nil {
		return nil, err
	}
	var scans []orphanScan
	for _, e := range g.Edges {
		for _, s := range e.Sources {
			if e.Detach || s.Held || only != "" && e.Child.Name != only && s.Name != only {
				continue
			}
			scan, err := newOrphanScan(s)
			if err != nil {
				return nil, err
			}
			scans = append(scans, scan)
		}
	}
	return scans, nil
}

func newOrphanScan(s *graph.Source) (orphanScan, error) {
	scan, e := orphanScan{Source: s}, s.Edge.Declared
	switch {
	case s.Index == "":
		return scan, noIndex(s)
	case s.Scan == nil:
		return scan, fmt.Errorf("an index is missing: %q needs one on (%s) to look for orphans; create it", s.Name,
			strings.Join(append(sortedKeys(e.When), e.Columns...), ", "))
	}
	parts, parent := []string{"1"}, s.Edge.Parent
	if s.Scan.Rest != "" {
		parts = append(parts, "COALESCE("+s.Scan.Rest+", 0)")
	}
	for _, t := range parent.Tables {
		if !s.AsText {
			parts = append(parts, "NOT EXISTS (SELECT 1 FROM "+t.From+" AS p WHERE "+s.Edge.Referred(t).Equal("p", s.Columns, "g")+")")
		}
	}
	scan.missing = strings.Join(parts, " AND ")
	for _, column := range parent.Key {
		if i := slices.IndexFunc(e.References, func(r string) bool { return strings.EqualFold(r, column) }); i >= 0 {
			scan.keyOrder = append(scan.keyOrder, i)
		}
	}
	if len(scan.keyOrder) < max(len(parent.Key), len(e.References)) {
		scan.keyOrder = nil
	}
	if s.AsText && scan.keyOrder == nil {
		return scan, fmt.Errorf("%w: the columns (%s) of %q and (%s) of %q have types that do not compare", rowkey.ErrType,
			strings.Join(e.Columns, ", "), s.Name, strings.Join(e.References, ", "), parent.Name)
	}
	return scan, nil
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// name is the edge in short.
func (s *orphanScan) name() string {
	e := s.Edge.Declared
	name := strings.Join(e.Columns, ", ") + " → " + e.Table
	for _, column := range sortedKeys(e.When) {
		name += fmt.Sprintf(" (%s = %q)", column, e.When[column])
	}
	return name
}

// String names the table and the edge, for errors.
func (s *orphanScan) String() string { return s.Name + ": " + s.name() }

// literals are what a place may be made of: nothing else gets into a statement.
var literals = regexp.MustCompile(`^(NULL|-?\d+(\.\d+)?|(_utf8mb4 )?x'[0-9a-f]*'|'[0-9A-Za-z:. -]*')$`)

// cursorText is a position: a place of one scan.
type cursorText struct {
	Table string       `json:"t"`
	Edge  string       `json:"e"`
	After rowkey.Place `json:"a,omitempty"`
}

func (c cursorText) encode() string {
	raw, _ := json.Marshal(c) //nolint:errcheck // of texts alone
	return base64.RawURLEncoding.EncodeToString(raw)
}

// position is a place of this scan as a text.
func (s *orphanScan) position(after rowkey.Place) string {
	return cursorText{s.Name, s.name(), after}.encode()
}

var errCursor = fmt.Errorf("%w: not a position of this search for orphans", queue.ErrInvalid)

// startAt drops the scans before the position.
func startAt(scans *[]orphanScan, position string) (rowkey.Place, error) {
	if position == "" {
		return nil, nil
	}
	var c cursorText
	raw, err := base64.RawURLEncoding.DecodeString(position)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCursor, err)
	}
	i := slices.IndexFunc(*scans, func(s orphanScan) bool { return s.Name == c.Table && s.name() == c.Edge })
	if i < 0 || c.After != nil && len(c.After) != (*scans)[i].Scan.Columns.Width() ||
		slices.ContainsFunc(c.After, func(l string) bool { return !literals.MatchString(l) }) {
		return nil, errCursor
	}
	*scans = (*scans)[i:]
	return c.After, nil
}
