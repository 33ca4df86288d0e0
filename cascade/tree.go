package cascade

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/onerow/onerow/schema"
)

// node is a resource of the plan as the cascade sees it.
type node struct {
	res    schema.Resource
	tables []table
	leaves []*node // children that are deleted by their parent's id, unread
	inner  []*node // children that are read first: something else goes with them
	marks  bool    // deleting an active row moves the quota of an owner who stays
}

// table is one of a resource's tables, with its statements as far as they are known.
type table struct {
	name   string
	active bool
	id     string // quoted, as is parent
	parent string

	read   string // … WHERE: id, parent, asset, owner; by the index (parent, id)
	lock   string // … IN: the same by the primary key; FOR UPDATE follows
	remove string // … IN: by the primary key
	leaves string // … IN: by the index (parent, id); a LIMIT follows
	above  string // … IN: the parents that have a row here
}

// tree makes the nodes of a plan that has passed its check, by resource name.
func tree(plan schema.Plan) (map[string]*node, error) {
	nodes := map[string]*node{}
	for _, name := range plan.Names() {
		res, err := plan.Resource(name)
		if err != nil {
			return nil, err
		}
		n := &node{res: res, marks: res.Quota.Flag != "" && res.Owner != res.Parent.Column}
		for _, t := range res.Tables() {
			n.tables = append(n.tables, newTable(res, t, n.marks))
		}
		nodes[name] = n
	}
	for _, name := range plan.Names() {
		for _, child := range plan.Children(name) {
			c, parent := nodes[child.Name], nodes[name]
			if len(plan.Children(child.Name)) == 0 && child.Asset == "" && !c.marks {
				parent.leaves = append(parent.leaves, c)
			} else {
				parent.inner = append(parent.inner, c)
			}
		}
	}
	return nodes, nil
}

func newTable(res schema.Resource, name string, marks bool) table {
	t := table{name: name, active: name == res.Active, id: schema.Quote(res.ID), parent: "NULL"}
	from, asset, owner := schema.Quote(name), "NULL", "NULL"
	if res.Parent.Column != "" {
		t.parent = schema.Quote(res.Parent.Column)
	}
	if res.Asset != "" {
		asset = schema.Quote(res.Asset)
	}
	if marks {
		owner = schema.Quote(res.Owner)
	}
	columns := strings.Join([]string{"SELECT " + t.id, t.parent, asset, owner}, ", ")
	t.read = fmt.Sprintf("%s FROM %s WHERE ", columns, from)
	t.lock = fmt.Sprintf("%s FROM %s FORCE INDEX (PRIMARY) WHERE %s IN ", columns, from, t.id)
	t.remove = fmt.Sprintf("DELETE t FROM %s AS t FORCE INDEX (PRIMARY) WHERE t.%s IN ", from, t.id)
	t.leaves = fmt.Sprintf("DELETE FROM %s WHERE %s IN ", from, t.parent)
	t.above = fmt.Sprintf("SELECT DISTINCT %s FROM %s WHERE %s IN ", t.parent, from, t.parent)
	return t
}

// children are the leaves and the inner ones.
func (n *node) children() []*node {
	return append(append([]*node{}, n.leaves...), n.inner...)
}

// certain says whether deleting the leaves of locked parents, without reaching the
// limit, proves that nothing is left below them: there is one table, or none, for
// each child to be in. A row that moves between two tables could be missed.
func (n *node) certain() bool {
	for _, leaf := range n.leaves {
		if len(leaf.tables) > 1 {
			return false
		}
	}
	return len(n.inner) == 0
}

// aboveSQL asks all tables of all children, from one snapshot, which of the parents
// still have something below. Each part reads the index (parent, id). In its
// transaction it is the first read without a lock, so the snapshot is newer than the
// locks on the parents, at REPEATABLE READ too: nobody can have added a child
// since, and a row that moves is in one of its tables.
func (n *node) aboveSQL(parents []int64) string {
	var parts []string
	for _, c := range n.children() {
		for _, t := range c.tables {
			parts = append(parts, t.above+in(parents))
		}
	}
	return strings.Join(parts, " UNION ")
}

// cursor is a position in the index (parent, id); the zero value is before its start.
type cursor struct{ parent, id int64 }

// readSQL reads the next chunk of children of the parents, which are sorted.
func (t table) readSQL(parents []int64, after cursor, limit int) string {
	var b strings.Builder
	b.WriteString(t.read)
	rest := parents
	if after != (cursor{}) {
		for len(rest) > 0 && rest[0] <= after.parent {
			rest = rest[1:]
		}
		fmt.Fprintf(&b, "%s = %d AND %s > %d", t.parent, after.parent, t.id, after.id)
		if len(rest) > 0 {
			b.WriteString(" OR ")
		}
	}
	if len(rest) > 0 {
		b.WriteString(t.parent + " IN " + in(rest))
	}
	return b.String() + " ORDER BY " + t.parent + ", " + t.id + " LIMIT " + strconv.Itoa(limit)
}
