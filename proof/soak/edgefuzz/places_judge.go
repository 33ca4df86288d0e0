package edgefuzz

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

const (
	sqlPlaced = `SELECT id, owner_id, name, note, 'active', 0 FROM %[1]s UNION ALL
 SELECT id, owner_id, name, note, 'archived', deletion_id IS NOT NULL FROM %[1]s_archive`
	sqlKids = `SELECT row_id, id FROM kid_%s`
)

// stored is a row with whether a deletion hides it.
type stored[N number] struct {
	row    row[N]
	hidden bool
}

func (l *placed[N]) judge(ctx context.Context, when string) error {
	there := map[N][]stored[N]{}
	err := onerow.Query(ctx, l.w.admin, fmt.Sprintf(sqlPlaced, l.name), nil, func(rows *sql.Rows) error {
		var s stored[N]
		err := rows.Scan(&s.row.ID, &s.row.Owner, &s.row.Name, &s.row.Note, &s.row.State, &s.hidden)
		there[s.row.ID] = append(there[s.row.ID], s)
		return err //nolint:wrapcheck // it says all
	})
	kids := map[N]map[int64]bool{}
	if err == nil {
		err = onerow.Query(ctx, l.w.admin, fmt.Sprintf(sqlKids, l.name), nil, func(rows *sql.Rows) error {
			var parent N
			var id int64
			err := rows.Scan(&parent, &id)
			if kids[parent] == nil {
				kids[parent] = map[int64]bool{}
			}
			kids[parent][id] = true
			return err //nolint:wrapcheck // it says all
		})
	}
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	for _, m := range l.models {
		l.judgeRow(m, there[m.row.ID], kids[m.row.ID], when)
		delete(there, m.row.ID)
		delete(kids, m.row.ID)
	}
	missing := maps.Clone(l.made)
	for id, all := range there {
		if !l.made[id] || len(all) > 1 {
			l.w.found.Add(brokenRow, "%s, %s: nobody made %+v", l.name, when, all)
		}
		delete(missing, id)
	}
	if len(missing) > 0 || len(kids) > 0 {
		l.w.found.Add(brokenRow, "%s, %s: rows %v are not there, kids of %v are", l.name, when, missing, kids)
	}
	return l.lists(ctx, when)
}

func (l *placed[N]) judgeRow(m *model[N], got []stored[N], kids map[int64]bool, when string) {
	want := []stored[N]{{m.row, m.hidden}}
	if m.hidden {
		want[0].row.State = schema.Archived
	}
	if m.gone || m.row.State == "" {
		want = nil
	}
	if !slices.Equal(got, want) {
		l.w.found.Add(brokenRow, "%s %d, %s: it is %+v, not %+v, after %q", l.name, m.row.ID, when, got, want, m.history)
	}
	if expected := m.kids; !m.gone && !maps.Equal(expected, kids) || m.gone && len(kids) > 0 {
		l.w.found.Add(brokenKids, "%s %d, %s: %v, not %v, after %q", l.name, m.row.ID, when, kids, expected, m.history)
	}
}

// lists reads each owner's rows page by page.
func (l *placed[N]) lists(ctx context.Context, when string) error {
	for _, owner := range slices.Compact(l.owners) {
		for _, state := range []schema.State{schema.Active, schema.Archived, repo.AnyState} {
			var want []N
			for _, m := range l.models {
				shown := !m.gone && !m.hidden && m.row.State != "" && m.row.Owner == owner
				if shown && (state == repo.AnyState || state == m.row.State) {
					want = append(want, m.row.ID)
				}
			}
			got, err := l.list(ctx, owner, state)
			if err != nil {
				return err
			}
			got = slices.DeleteFunc(got, func(id N) bool {
				return !slices.ContainsFunc(l.models, func(m *model[N]) bool { return m.row.ID == id })
			})
			slices.Sort(want)
			if !slices.Equal(got, want) {
				l.w.found.Add(brokenList, "%s of owner %d, %s, %s: %v, not %v", l.name, owner, state, when, got, want)
			}
		}
	}
	return nil
}

func (l *placed[N]) list(ctx context.Context, owner N, state schema.State) (ids []N, err error) {
	for o := (repo.PageOptions{State: state, Limit: 2}); ; {
		page, err := l.rows.List(ctx, l.w.pools[0], owner, o)
		if err != nil {
			return nil, fmt.Errorf("soak: list %s: %w", l.name, err)
		}
		for _, one := range page.Items {
			ids = append(ids, one.ID)
		}
		if o.After = page.Next; o.After == "" {
			return ids, nil
		}
	}
}

// restore brings back half of what is gone.
func (l *placed[N]) restore(ctx context.Context) error {
	for i, m := range l.models {
		if !m.gone || i%2 == int(l.w.rounds.Load())%2 {
			continue
		}
		m.history = append(m.history, "restore")
		res, p, err := recover.Job(ctx, l.w.pools[i%len(l.w.pools)], l.w.plan, m.job, recover.Options{})
		if err != nil || len(p.Missing) > 0 || p.RootMissing != "" || p.Stuck > 0 || !res.Changed {
			l.w.found.Add(brokenTrash, "%s %d: %+v, %+v, %v", l.name, m.row.ID, res, p, err)
			continue
		}
		m.gone, m.row.State, m.row.Name = false, res.State, res.Name
		if res.State != m.was {
			l.w.found.Add(brokenTrash, "%s %d: it was %s and is %s", l.name, m.row.ID, m.was, res.State)
		}
	}
	return nil
}
