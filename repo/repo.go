package repo

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
)

// Repo is the repository of a resource whose ids and owners are integers.
type Repo[T any] = Of[T, int64, int64]

// Of holds the rows of one resource as values of the caller's struct T, which are named by an ID and are an
// Owner's. It has no state but its declaration and is safe for concurrent use.
type Of[T any, ID Key, Owner comparable] struct{ tables *tables }

// tables are the two tables of a resource. They know the types of its rows and keys by reflection alone, and
// so are compiled once: a row is the reflect.Value of a T that can be set, invalid where there is none; a key
// is what its column holds, see package keytype; an owner is a list of them.
type tables struct {
	typ     reflect.Type // T
	idType  reflect.Type // ID, nil where keys stay as they are
	res     schema.Resource
	parent  schema.Resource // zero where there is none
	above   []above         // from the parent to the root
	further []further       // rows above, beside the parent
	stored  []stored        // what tables below store of a row
	fields  fields
	limits  []limited

	owned bool // by OwnedBy
	owner []any

	active, archive side
	sql             statements
}

// side is one of the two tables.
type side struct {
	table string // quoted
	state schema.State
}

// Option configures a Repo.
type Option func(*options)

type options struct {
	limits []*limit.Rule
}

// New returns the repository of a resource of the plan whose ids and owners are integers, see [NewOf].
func New[T any](plan schema.Plan, resource string, opts ...Option) (*Repo[T], error) {
	return NewOf[T, int64, int64](plan, resource, opts...)
}

// NewOf returns the repository of a resource of the plan. T is a struct whose
// fields have sqlx's `db` tags; it needs fields for the resource's id, owner, name
// and parent, as far as it has these, may have fields for the toolkit's other
// columns (version, created_at, updated_at, the quota flag), which are filled in
// and never written from it, and for the application's own: of any type that the driver
// takes, bytes for JSON columns too. A string field with
// the tag `db:"state"` is filled with [schema.Active] or [schema.Archived]. Times
// are UTC in DATETIME columns, and moments in TIMESTAMP columns, whatever the driver's settings and the
// session's time zone; those that write a TIMESTAMP run in UTC, and the triggers with them.
//
// ID and Owner are what the verbs take, and fit the columns as the plan declares them: an integer; a string;
// an array of bytes (a UUID), which a BINARY column holds as it is and a CHAR column as its MarshalText
// writes it. An Owner of a tenant and an owner is a struct of both, with `db` tags too.
//
//	tickets, err := repo.NewOf[Ticket, uuid.UUID, int64](plan, "ticket")
//
// The error says what the plan, T or a type lacks. No statement is run.
func NewOf[T any, ID Key, Owner comparable](plan schema.Plan, resource string, opts ...Option) (*Of[T, ID, Owner], error) {
	t, err := newTables(plan, resource, reflect.TypeFor[T](), reflect.TypeFor[ID](), reflect.TypeFor[Owner](), opts)
	if err != nil {
		return nil, err
	}
	return &Of[T, ID, Owner]{t}, nil
}

// newTables is NewOf for the types row, id and owner.
func newTables(plan schema.Plan, resource string, row, id, owner reflect.Type, opts []Option) (*tables, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	res, err := plan.Resource(resource)
	if err != nil {
		return nil, err
	}
	r := &tables{typ: row, idType: id, res: res}
	if res.Parent.Resource != "" {
		if r.parent, err = plan.Resource(res.Parent.Resource); err != nil {
			return nil, err
		}
	}
	if r.above, err = resourcesAbove(plan, res); err != nil {
		return nil, err
	}
	r.stored = storedIn(plan, res, r.homeColumns())
	if res.Asset != "" && res.Archive == "" {
		return nil, fmt.Errorf("repo: %q has an asset and no archive table; a deleted row must stay, hidden, until its asset is gone", res.Name)
	}
	if r.fields, err = mapFields(row, res); err != nil {
		return nil, err
	}
	r.further = furtherOf(plan, res, r.fields)
	if err := r.checkTypes(owner); err != nil {
		return nil, err
	}
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	if err := r.withLimits(o.limits); err != nil {
		return nil, err
	}
	r.active = side{ident.Quote(res.Active), schema.Active}
	r.archive = side{ident.Quote(res.Archive), schema.Archived}
	r.sql = r.statements()
	return r, nil
}

// mark appends the mark of a mutation that may move the owner's quota: one
// INSERT in the mutation's transaction, or nothing where there is no quota.
func (r *tables) mark(ctx context.Context, tx *onerow.Tx, owners ...[]any) error {
	if r.res.Quota.Flag == "" {
		return nil
	}
	var marks []onerow.Stmt
	for _, owner := range owners {
		mark, err := quota.MarkStmt(r.res.Name, owner...)
		if err != nil {
			return err
		}
		marks = append(marks, mark)
	}
	return packet.ExecLast(ctx, tx, marks...)
}

// ordersBy says whether the quota is ordered by one of the columns that a write to
// an active row changes: the given ones, or those that every write changes.
func (r *tables) ordersBy(columns []string) bool {
	by := r.res.Quota.By
	return r.res.Quota.Flag != "" && (by == schema.ColVersion || by == schema.ColUpdatedAt || slices.Contains(columns, by))
}

// wrap names the verb and the row in an error that is not one of a kind that
// says so itself.
func (r *tables) wrap(verb string, id any, err error) error {
	if err == nil {
		return nil
	}
	if id == nil {
		return fmt.Errorf("repo: %s %s: %w", verb, r.res.Name, err)
	}
	return fmt.Errorf("repo: %s %s %s: %w", verb, r.res.Name, r.show(id), err)
}

// result is an onerow.Result of any type.
type result struct {
	row               reflect.Value
	changed, replayed bool
}

// answer is a result in the caller's type. What is generic is compiled again for each type of rows, so it
// converts and does nothing else.
func answer[T any](res result, err error) (onerow.Result[T], error) {
	return onerow.Result[T]{Row: rowOf[T](res.row), Changed: res.changed, Replayed: res.replayed}, err
}

// rowOf is a row in the caller's type, zero where there is none.
func rowOf[T any](row reflect.Value) (none T) {
	if !row.IsValid() {
		return none
	}
	return *row.Addr().Interface().(*T)
}

// pageOf is a page in the caller's type.
func pageOf[T any](p page, err error) (Page[T], error) {
	items := []T{}
	if p.items.IsValid() && p.items.Len() > 0 {
		items = p.items.Interface().([]T)
	}
	return Page[T]{Items: items, Next: p.next}, err
}

// onRow is a callback of the caller's that takes a row of any type.
func onRow[T any](fn func(row *T) error) func(row reflect.Value) error {
	return func(row reflect.Value) error { return fn(row.Addr().Interface().(*T)) }
}

// copyOf is another row with the same fields.
func copyOf(row reflect.Value) reflect.Value {
	c := reflect.New(row.Type()).Elem()
	c.Set(row)
	return c
}
