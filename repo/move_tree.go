package repo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/answers"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/schema"
)

// ancestor is a resource above: the parent's, its parent's, and so on.
type ancestor struct {
	res   schema.Resource
	up    keyField  // its parent's column; empty where there is none
	locks []rowLock // lock a row of it, active or archived
}

// ancestorsOf are the resources above one, from its parent to the root.
func ancestorsOf(plan schema.Plan, res schema.Resource) (list []ancestor, err error) {
	for res.Parent.Resource != "" {
		if res, err = plan.Resource(res.Parent.Resource); err != nil {
			return nil, err
		}
		a := ancestor{res: res, up: keyField{column: res.Parent.Column}}
		if a.up.column != "" {
			if a.up.typ, err = keytype.Parse(res.ColumnType(a.up.column)); err != nil {
				return nil, err
			}
		}
		a.locks = a.locksWhere(ident.Quote(res.ID) + " = ?")
		list = append(list, a)
	}
	return list, nil
}

// locksWhere lock the row of a condition, the active one and the archived one, and read what it is below.
func (a ancestor) locksWhere(condition string) []rowLock {
	up := "1"
	if a.up.column != "" {
		up = ident.Quote(a.up.column)
	}
	return locksOn(a.res, up, condition)
}

// branch is the rows above the old home or the new one, of which key is the next.
type branch struct {
	key    any
	enters bool  // it is the new one
	tenant []any // that the first row of a new one has, too
}

// lockAncestors locks what is above the row, before it goes to another parent: all rows up to the root, where
// it was and where it will be. A deletion takes its row away, or hides it, before the cascade begins, and a
// worker locks a parent before it deletes it, behind the rows below; so what a cascade has to find is still
// below its root, and nothing leaves that was found. Level by level and in the order of the keys, as workers
// do. A row that stays below its parent needs that alone.
func (r *untyped) lockAncestors(ctx context.Context, tx *onerow.Tx, h lockedRow, m move) error {
	var tenant []any
	if r.sharesTenant() {
		tenant = m.to.owner[:1]
	}
	if !m.changesParent {
		if r.sharesTenant() && keytype.Compare(m.from.owner[0], m.to.owner[0]) != 0 {
			return r.lockParent(ctx, tx, h.parent, false, tenant...)
		}
		return r.lockParent(ctx, tx, h.parent, true)
	}
	leave, enter := &branch{key: h.parent}, &branch{key: m.to.parent, enters: true, tenant: tenant}
	jobs := []openJob{{r.res.Name, h.key}}
	for level, a := range r.ancestors {
		branches := []*branch{leave, enter}
		switch order := keytype.Compare(leave.key, enter.key); {
		case order == 0: // they have met
			branches = branches[:1]
		case order > 0:
			branches = []*branch{enter, leave}
		}
		for _, b := range branches {
			jobs = append(jobs, openJob{a.res.Name, b.key})
			if err := r.climb(ctx, tx, level, b); err != nil {
				return err
			}
		}
		if len(branches) == 1 {
			enter.key = leave.key
		}
	}
	return r.noOpenJob(ctx, tx, jobs)
}

// climb locks a row above and goes on to the one above that. One statement, up to two per try where the row
// is not active; in a plan for a cluster one more below the root, to read what the row is below.
func (r *untyped) climb(ctx context.Context, tx *onerow.Tx, level int, b *branch) error {
	a := r.ancestors[level]
	locks, args := a.locks, []any{b.key}
	if level == 0 && b.enters {
		locks, args = r.parentToJoin(), append(args, b.tenant...)
	}
	var up, target any
	if a.up.column != "" {
		target = a.up.into(&up)
	}
	if there, err := lockOne(ctx, tx, locks, args, target); there || err != nil {
		b.key = up
		return err
	}
	missing := ErrBeingDeleted
	if b.enters {
		missing = ErrParentNotFound
	}
	if b.enters && level == 0 {
		return r.noParent(ctx, tx, args, false)
	}
	return fmt.Errorf("%w: %s %s is gone or hidden by a deletion", missing, a.res.Name, keytype.Show(b.key))
}

// openJob is a row that may have an open job.
type openJob struct {
	resource string
	key      any
}

// sqlOpenJob asks by the unique key one_open, each row by an entry of its own. It is a current read: the
// snapshot may be older than the locks on the rows. Who queues a job for a row that stays where it is locks
// nothing; but its worker waits for the row before it looks for what is below (ownSQL in package work), so it
// sees what has moved before, and what would move after sees the job. A worker that claims passes over a job
// that is looked at, and comes back to it.
const sqlOpenJob = `(SELECT deletion_id FROM onerow_job WHERE resource = ? AND resource_id = ? LOCK IN SHARE MODE)`

// noOpenJob refuses to move a row out of a cascade, or into one, whose root nothing hides: an operator has
// queued it. One statement.
func (r *untyped) noOpenJob(ctx context.Context, tx *onerow.Tx, rows []openJob) error {
	parts, args := make([]string, len(rows)), []any{}
	for i, row := range rows {
		key, err := onerow.EncodeKey(row.key)
		if err != nil {
			return err
		}
		parts[i], args = sqlOpenJob, append(args, row.resource, []byte(key))
	}
	var deletionID int64
	open, err := found(onerow.QueryRow(ctx, tx, strings.Join(parts, " UNION ALL "), args, &deletionID))
	if open {
		err = fmt.Errorf("%w: the cascade of deletion %d is queued; cancel it first", ErrBeingDeleted, deletionID)
	}
	return err
}

// ErrChildrenStoreOwner means: tables below store what a move would change, so that their rows would still
// say where it was. errors.As with *[ChildrenError] names them.
var ErrChildrenStoreOwner = answers.New(409, "it cannot change its owner", "repo: rows below store the owner")

// ChildrenError is the detail of [ErrChildrenStoreOwner].
type ChildrenError struct {
	// Resource is what was to be moved.
	Resource string
	// Columns are those that would change and that Tables below have as owner or tenant, or refer to.
	Columns, Tables []string
}

// Error names the tables.
func (e *ChildrenError) Error() string {
	return fmt.Sprintf("repo: a %s that changes its %s would leave what is below it behind: %s store that too, or refer to it",
		e.Resource, strings.Join(e.Columns, ", "), strings.Join(e.Tables, ", "))
}

// Unwrap returns [ErrChildrenStoreOwner].
func (e *ChildrenError) Unwrap() error { return ErrChildrenStoreOwner }

// storedIn finds, for each of a resource's own columns, which tables below store it: among what the plan says
// is below over edges that delete, at any level, those whose owner or tenant has its name; and those that
// refer to it.
func storedIn(plan schema.Plan, res schema.Resource, columns []string) map[string][]string {
	nodes := plan.Nodes()
	under := map[string]bool{res.Name: true}
	below := func(n schema.Node) bool {
		return slices.ContainsFunc(n.Parents, func(e schema.Edge) bool { return e.OnDelete == schema.OnDeleteDelete && under[e.Table] })
	}
	for range nodes { // tables come in any order
		for _, n := range nodes {
			under[n.Name] = under[n.Name] || below(n)
		}
	}
	tables := map[string][]string{}
	for _, column := range columns {
		same := func(c string) bool { return strings.EqualFold(c, column) }
		for _, n := range nodes {
			refers := slices.ContainsFunc(n.Parents, func(e schema.Edge) bool { return e.Table == res.Name && slices.ContainsFunc(e.References, same) })
			parent := slices.ContainsFunc(n.Parents, func(e schema.Edge) bool { // another column, of the same name
				return under[e.Table] && len(e.Columns) == 1 && same(e.Columns[0])
			})
			if refers || below(n) && !parent && slices.ContainsFunc(n.Owners, same) {
				tables[column] = append(tables[column], n.Tables...)
			}
		}
	}
	return tables
}

// refuseStoredBelow refuses to change columns that tables below store. No statement.
func (r *untyped) refuseStoredBelow(columns []string) error {
	e := &ChildrenError{Resource: r.res.Name}
	for _, column := range columns {
		if len(r.stored[column]) > 0 {
			e.Columns = append(e.Columns, column)
		}
		for _, table := range r.stored[column] {
			if !slices.Contains(e.Tables, table) {
				e.Tables = append(e.Tables, table)
			}
		}
	}
	if e.Columns == nil {
		return nil
	}
	return e
}
