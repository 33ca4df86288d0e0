package discover

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
)

// Unsettled is a column that may say whose row it is, and of which the plan does not say what becomes of it.
type Unsettled struct {
	Table, Column string
	// Of is the node of the plan that it may refer to, "" where its rows may be several tables'.
	Of string
	// Why is what speaks for it, in a line.
	Why string
	// Document says that it is within JSON, where no edge reaches.
	Document bool
}

// Erasure looks for columns that refer to rows of a node, or to what goes with these, and have neither a
// foreign key nor an edge in the plan nor a line in [schema.Plan].Spared: by their names, by their values,
// where those of the node's key are so far apart that it is no chance, by a type beside an id, and by the
// names within JSON. Tables without a primary key are looked at as well.
//
// At most ten plain reads of the catalog; 1 for a key of integers; 1 for each column of the key's class of
// values, and for each of JSON or long text. Each reads 1,000 rows of a table at most, and five seconds; what
// cannot be read in time is said to be unsettled. References to a key of several columns are not looked for.
// Errors: [schema.ErrUnknownResource]; those of [Plan].
func Erasure(ctx context.Context, db onerow.DB, plan schema.Plan, of string) ([]Unsettled, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	if _, err := plan.Node(of); err != nil {
		return nil, err
	}
	d := &discovery{old: plan}
	var err error
	if d.found, err = dict.Read(ctx, db); err != nil {
		return nil, fmt.Errorf("schema: erasure: %w", err)
	}
	if err := d.keepOld(); err != nil {
		return nil, err
	}
	e := erasure{discovery: d, db: db, names: d.wordsOf(), of: of}
	nodes := plan.Nodes()
	for _, name := range reach(nodes, of) {
		i := slices.IndexFunc(nodes, func(n schema.Node) bool { return n.Name == name })
		if err := e.below(ctx, nodes[i]); err != nil {
			return nil, fmt.Errorf("schema: erasure: %w", err)
		}
	}
	e.polymorphs()
	return e.list, nil
}

// reach are a node and those whose rows go with its rows.
func reach(nodes []schema.Node, of string) []string {
	reached := []string{of}
	for i := 0; i < len(reached); i++ {
		for _, n := range nodes {
			goes := slices.ContainsFunc(n.Parents, func(e schema.Edge) bool { return e.Table == reached[i] && e.OnDelete == schema.OnDeleteDelete })
			if goes && !slices.Contains(reached, n.Name) {
				reached = append(reached, n.Name)
			}
		}
	}
	return reached
}

type erasure struct {
	*discovery
	db    onerow.DB
	names words
	of    string
	list  []Unsettled
}

// settled says whether somebody has decided, for that table or for the one that its rows move to.
func (e *erasure) settled(table, column string) bool {
	return e.constrained(table, column) || hasEdge(e.old, table, column) || e.old.Spares(table, column) ||
		slices.ContainsFunc(e.list, func(u Unsettled) bool { return u.Table == table && u.Column == column })
}

// tables are those that somebody may have put a reference into.
func (e *erasure) tables(not string) (list []*dict.Table) {
	for _, name := range e.tableNames() {
		t := e.found.Table(name)
		if n, known := e.known[name]; t.IsTable() && !shape.IsToolkits(name) && name != not && (!known || strings.EqualFold(n.Tables[0], name)) {
			list = append(list, t)
		}
	}
	return list
}

// below looks for what refers to rows of the node.
func (e *erasure) below(ctx context.Context, n schema.Node) error {
	to := e.found.Table(n.Tables[0])
	if len(to.Primary()) != 1 {
		return nil // no single column refers to it
	}
	key := to.Column(to.Primary()[0])
	person := n.Name == e.of
	tells, err := person, error(nil)
	if person && key.Class() == "integer" {
		tells, err = e.sparse(ctx, to, key)
	}
	for _, t := range e.tables("") {
		for i := range t.Columns {
			c := &t.Columns[i]
			if err != nil || t == to && c == key || e.settled(t.Name, c.Name) {
				continue
			}
			why := e.names.likely(t, c, to)
			if why == "" {
				_, why = e.names.byAnother(t, c, to)
			}
			if why == "" && tells && t != to && c.Class() == key.Class() {
				why, err = e.match(ctx, t, c, to, key)
			}
			document := why == "" && err == nil && person && t != to
			if document {
				why, err = e.within(ctx, t, c, to, key)
			}
			if why != "" {
				e.list = append(e.list, Unsettled{t.Name, c.Name, n.Name, why, document})
			}
		}
	}
	return err
}

// sqlSpan reads the ends of the primary key, and an estimate of the rows.
const sqlSpan = `SELECT COALESCE(MAX(%[1]s), 0) - COALESCE(MIN(%[1]s), 0), COALESCE((SELECT table_rows FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?), 0) FROM %[2]s`

// sparse says whether an integer is among the keys hardly by chance: fewer than a hundredth of those between
// the least and the greatest are.
func (e *erasure) sparse(ctx context.Context, t *dict.Table, key *dict.Column) (bool, error) {
	var span, rows float64
	err := onerow.QueryRow(ctx, e.db, fmt.Sprintf(sqlSpan, ident.Quote(key.Name), ident.Quote(t.Name)), []any{t.Name}, &span, &rows)
	return span > 100*rows && rows > 0, err
}

// unknown is the reason where a column could not be read in time, or may not be read.
const unknown = "its values could not be looked at"

// match says that the first values of a column are nearly all there above.
func (e *erasure) match(ctx context.Context, t *dict.Table, c *dict.Column, to *dict.Table, key *dict.Column) (string, error) {
	p := Proposal{sample: fmt.Sprintf(sqlSample, ident.Quote(to.Name), ident.Quote(key.Name), ident.Quote(c.Name), ident.Quote(t.Name), sampled)}
	_, values, there, err := p.count(ctx, e.db)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return unknown, nil
	case values < 3 || 10*there < 9*values:
		return "", nil
	}
	return fmt.Sprintf("%d of %d values are there", there, values), nil
}

// sqlWithin counts, of the first rows, the documents that have one of the names at any depth.
const sqlWithin = `SELECT COUNT(IF(JSON_VALID(s.v), IF(JSON_CONTAINS_PATH(s.v, 'one', %[1]s), 1, NULL), NULL)) FROM (SELECT %[2]s AS v FROM %[3]s WHERE %[2]s IS NOT NULL LIMIT %[4]d) AS s`

// within says that documents in a column have a name that refers to the table.
func (e *erasure) within(ctx context.Context, t *dict.Table, c *dict.Column, to *dict.Table, key *dict.Column) (string, error) {
	if !slices.Contains([]string{"json", "longtext", "mediumtext", "text"}, strings.ToLower(c.Data)) {
		return "", nil
	}
	var paths []string
	for _, word := range e.names.of[to.Name] {
		for _, name := range []string{word + "_" + key.Name, word + "_id", camel(word) + "Id", camel(word) + "ID"} {
			if path := `'$**."` + strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(name) + `"'`; !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	short, cancel := context.WithTimeout(ctx, sampleTime)
	defer cancel()
	var n int64
	err := onerow.QueryRow(short, e.db, fmt.Sprintf(sqlWithin, strings.Join(paths, ", "), ident.Quote(c.Name), ident.Quote(t.Name), sampled), nil, &n)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return unknown, nil
	case n == 0:
		return "", nil
	}
	return fmt.Sprintf("%d of the first documents in it name one", n), nil
}

// camel is a name as programs write it: customer_group is customerGroup.
func camel(word string) string {
	var b strings.Builder
	for i, part := range strings.Split(word, "_") {
		if i > 0 && part != "" {
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		b.WriteString(part)
	}
	return b.String()
}

// polymorphs are the ids beside a type of which nobody has said what they refer to.
func (e *erasure) polymorphs() {
	for _, pair := range e.pairs(e.old) {
		if !e.settled(pair.table, pair.id) {
			e.list = append(e.list, Unsettled{Table: pair.table, Column: pair.id, Why: "rows of several tables may be meant, as " + pair.kind + " says"})
		}
	}
}
