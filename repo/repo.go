package repo

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/internal/trace"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
)

// Repo is the repository of a resource whose ids and owners are integers.
type Repo[T any] = Of[T, int64, int64]

// Of holds the rows of one resource as values of the caller's struct T, which are named by an ID and are an
// Owner's. It has no state but its declaration and is safe for concurrent use.
type Of[T any, ID Key, Owner comparable] struct{ untyped *untyped }

// untyped is an Of that knows its types by reflection alone, and so is compiled once: each verb of Of hands
// its arguments to the one of the same name here, and converts the answer. A row is the reflect.Value of a T
// that can be set, invalid where there is none; a key is what its column holds, see package keytype; an owner
// is a list of them.
type untyped struct {
	typ        reflect.Type // T
	idType     reflect.Type // ID, nil where keys stay as they are
	res        schema.Resource
	parent     schema.Resource     // zero where there is none
	home       []string            // the columns of the owner and the parent
	ancestors  []ancestor          // from the parent to the root
	references []reference         // rows above, beside the parent
	stored     map[string][]string // which tables below store a column of the row
	fields     fields
	limits     []limited

	owned    bool // by OwnedBy
	owner    []any
	scope    string   // the owner, encoded; empty: no row is the owner's
	unscoped *untyped // the same without an owner

	words      map[string]string // of statements, see vocabulary
	statements *statements
	newParent  []rowLock
}

// New returns the repository of a resource of the plan whose ids and owners are integers. T is a struct with
// `db` tags for the columns, and where it is wanted a virtual one, "state"; see [NewOf].
func New[T any](plan schema.Plan, resource string, rules ...*limit.Rule) (*Repo[T], error) {
	return NewOf[T, int64, int64](plan, resource, rules...)
}

// NewOf returns the repository of a resource of the plan. T is a struct whose fields have sqlx's `db` tags.
// It needs fields for the resource's id, owner, name and parent, as far as it has these. It may have fields
// for the toolkit's other columns (version, created_at, updated_at, the quota flag), which are filled in and
// never written from it, and for the application's own: of any type that the driver takes, bytes for JSON
// columns too. A string field with the tag `db:"state"` is filled with [schema.Active] or [schema.Archived].
// Times are UTC in DATETIME columns, and moments in TIMESTAMP columns, whatever the driver's settings and the
// session's time zone; statements that write a TIMESTAMP run in UTC, and their triggers with them.
//
// ID and Owner are what the verbs take, and fit the columns as the plan declares them: an integer; a string;
// an array of bytes (a UUID), which a BINARY column holds as it is and a CHAR column as its MarshalText
// writes it. An Owner of a tenant and an owner is a struct of both, with `db` tags too.
//
//	tickets, err := repo.NewOf[Ticket, uuid.UUID, int64](plan, "ticket")
//
// The rules are those of all limits that the plan declares for the resource. Create and Activate, and an
// Update of a column that is summed, then take room in their own commit, or fail with [limit.ErrLimit] and
// have written nothing; Archive, Delete and such an Update give it back. One statement more for each limit,
// see package limit.
//
// The error says what the plan, T or a type lacks. No statement is run.
func NewOf[T any, ID Key, Owner comparable](plan schema.Plan, resource string, rules ...*limit.Rule) (*Of[T, ID, Owner], error) {
	r, err := newUntyped(plan, resource, reflect.TypeFor[T](), reflect.TypeFor[ID](), reflect.TypeFor[Owner](), rules)
	if err != nil {
		return nil, err
	}
	return &Of[T, ID, Owner]{r}, nil
}

// newUntyped is NewOf for the types row, id and owner.
func newUntyped(plan schema.Plan, resource string, row, id, owner reflect.Type, rules []*limit.Rule) (*untyped, error) {
	r, err := declared(plan, resource)
	if err != nil {
		return nil, err
	}
	r.typ, r.idType = row, id
	r.stored = storedIn(plan, r.res, r.home)
	if r.res.Asset != "" && r.res.Archive == "" {
		return nil, fmt.Errorf("repo: %q has an asset and no archive table; a deleted row must stay, hidden, until its asset is gone", r.res.Name)
	}
	if r.fields, err = mapFields(row, r.res); err != nil {
		return nil, err
	}
	r.references = referencesOf(plan, r.res, r.fields)
	if err := r.checkTypes(owner); err != nil {
		return nil, err
	}
	if err := r.setLimits(rules); err != nil {
		return nil, err
	}
	r.prepare()
	return r, nil
}

// declared has what the plan, which is checked, says of a resource.
func declared(plan schema.Plan, resource string) (*untyped, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	res, err := plan.Resource(resource)
	if err != nil {
		return nil, err
	}
	r := &untyped{res: res, home: res.Owners()}
	if column := res.Parent.Column; column != "" && !slices.Contains(r.home, column) {
		r.home = append(r.home, column)
	}
	r.home = slices.Clip(r.home)
	r.unscoped = r
	if r.ancestors, err = ancestorsOf(plan, res); err != nil {
		return nil, err
	}
	if len(r.ancestors) > 0 {
		r.parent = r.ancestors[0].res
	}
	return r, nil
}

// prepare is the end of making a repository, when its fields are known.
func (r *untyped) prepare() {
	r.words, r.statements, r.newParent = r.vocabulary(), newStatements(), r.newParentLocks()
}

// mark appends the mark of a mutation that may move the owner's quota: one
// INSERT in the mutation's transaction, or nothing where there is no quota.
func (r *untyped) mark(ctx context.Context, tx *onerow.Tx, owners ...[]any) error {
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
func (r *untyped) ordersBy(columns []string) bool {
	by := r.res.Quota.By
	return r.res.Quota.Flag != "" && (by == ident.ColVersion || by == ident.ColUpdatedAt || slices.Contains(columns, by))
}

type result struct {
	row               reflect.Value
	changed, replayed bool
	jobID, deletionID int64 // of Delete
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

// start begins the span of a verb.
func (r *untyped) start(ctx context.Context, verb string) (context.Context, trace.Span) {
	return trace.Start(ctx, verb, slog.String("onerow.resource", r.res.Name))
}
