package edgefuzz

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// row is one whose id and owner are at the ends of their type; kid is below one.
type row[N number] struct {
	ID    N            `db:"id"`
	Owner N            `db:"owner_id"`
	Name  string       `db:"name"`
	Note  string       `db:"note"`
	State schema.State `db:"state"`
}

type kid[N number] struct {
	ID    int64 `db:"id"`
	RowID N     `db:"row_id"`
}

// places are rows whose verbs each row's own caller runs, so that it knows where the row is.
type places struct {
	w     *world
	lanes []placeLane
}

// placeLane is a resource of one type, whose ids the application makes or AUTO_INCREMENT.
type placeLane interface {
	begin(ctx context.Context, r *rand.Rand) error
	act(ctx context.Context, seed uint64, callers *sync.WaitGroup)
	// judge compares; restore brings back some of what is gone.
	judge(ctx context.Context, when string) error
	restore(ctx context.Context) error
}

func (*places) resources() (all []schema.Resource) {
	for _, t := range integers {
		for _, auto := range []string{"", " AUTO_INCREMENT"} {
			name := placeName(t, auto != "")
			all = append(all, schema.Resource{
				Name: name, IDType: t.sql + " NOT NULL" + auto, Archive: name + "_archive", Owner: "owner_id", OwnerType: t.sql + " NOT NULL",
				Label: schema.Label{Column: "name"}, Columns: []schema.Column{{Name: "note", Type: "VARCHAR(80) NOT NULL DEFAULT ''"}},
				Trash: schema.Age(24 * time.Hour),
			}, schema.Resource{Name: "kid_" + name, Parent: schema.Parent{Resource: name, Column: "row_id", Archived: true}, Trash: schema.Age(24 * time.Hour)})
		}
	}
	return all
}

func placeName(t integer, auto bool) string {
	if auto {
		return "auto_" + t.name
	}
	return "row_" + t.name
}

func (p *places) init(_ context.Context, w *world) error {
	p.w = w
	for _, t := range integers {
		for _, auto := range []bool{false, true} {
			var lane placeLane
			var err error
			if t.unsigned {
				lane, err = newPlaceLane[uint64](w, t, auto)
			} else {
				lane, err = newPlaceLane[int64](w, t, auto)
			}
			if err != nil {
				return err
			}
			p.lanes = append(p.lanes, lane)
		}
	}
	return nil
}

func newPlaceLane[N number](w *world, t integer, auto bool) (placeLane, error) {
	l := &placed[N]{w: w, t: t, auto: auto, name: placeName(t, auto)}
	var err error
	if l.rows, err = repo.NewOf[row[N], N, N](w.plan, l.name); err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	l.kids, err = repo.NewOf[kid[N], int64, int64](w.plan, "kid_"+l.name)
	return l, err //nolint:wrapcheck // it says all
}

func (p *places) begin(ctx context.Context, r *rand.Rand) error {
	for _, l := range p.lanes {
		if err := l.begin(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func (p *places) act(ctx context.Context, seed uint64) error {
	var callers sync.WaitGroup
	for i, l := range p.lanes {
		l.act(ctx, seed<<16|uint64(i)<<8, &callers) //nolint:gosec // small
	}
	callers.Wait()
	return nil
}

func (p *places) judge(ctx context.Context) error {
	for _, when := range []string{"drained", "restored"} {
		for _, l := range p.lanes {
			if err := l.judge(ctx, when); err != nil {
				return err
			}
		}
		if when == "restored" {
			break
		}
		for _, l := range p.lanes {
			if err := l.restore(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// placed is the lane of one type.
type placed[N number] struct {
	w      *world
	t      integer
	auto   bool
	name   string
	rows   *repo.Of[row[N], N, N]
	kids   *repo.Of[kid[N], int64, int64]
	owners []N
	first  uint64 // of AUTO_INCREMENT
	models []*model[N]

	mu   sync.Mutex
	made map[N]bool // by AUTO_INCREMENT
}

// model is where a row is.
type model[N number] struct {
	row     row[N] // State is "" where it is not there, hidden or gone
	hidden  bool
	gone    bool
	was     schema.State // before it was hidden or deleted
	job     int64
	kids    map[int64]bool
	history []string
}

// begin draws the owners, and puts rows by hand which Create never would make.
func (l *placed[N]) begin(ctx context.Context, r *rand.Rand) error {
	ids := ends[N](l.t)
	l.owners = []N{ids[r.IntN(len(ids))], ids[r.IntN(len(ids))]}
	l.models, l.made = nil, map[N]bool{}
	if l.auto { // what is at the end would leave nothing to AUTO_INCREMENT
		ids = slices.DeleteFunc(ids, func(id N) bool { return uint64(id) == l.t.most() || uint64(id) == l.t.most()-1 })
	}
	for _, id := range ids {
		m := &model[N]{row: row[N]{ID: id, Owner: l.owners[0], Note: fmt.Sprint("note of ", id)}, kids: map[int64]bool{}}
		l.models = append(l.models, m)
		if !l.auto && id != 0 { // a zero id is refused, but may be there
			continue
		}
		m.row.Name, m.row.State = fmt.Sprint("row ", id), schema.Active
		query := fmt.Sprintf(`INSERT INTO %s (id, owner_id, name, name_key, stem_key, note, created_at, updated_at)
 VALUES (?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, l.name)
		key := fmt.Sprint("row ", id)
		if _, err := l.w.pools[2].ExecContext(ctx, query, id, m.row.Owner, m.row.Name, key, key, m.row.Note); err != nil {
			return fmt.Errorf("soak: %w: %s", err, query)
		}
	}
	if !l.auto {
		return nil
	}
	if l.first = l.t.most() - 2; r.IntN(2) == 0 {
		l.first = 100 // there is enough
	}
	return l.w.execAll(ctx, []string{fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", l.name, l.first)})
}
