package featurefuzz

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
)

// round plays one, with one feature for sure.
func (u *run) round(ctx context.Context, forced string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	u.rounds++
	w := &world{r: u.Rand(uint64(u.rounds)), engine: u.Engine, collations: u.collations} //nolint:gosec // small
	if !u.chooseFor(w, forced) {
		return nil // the other tables are not there yet
	}
	which := 0
	if w.has[ofCrowd] {
		which = 1
	}
	w.build()
	session := w.r.IntN(len(sessions))
	if w.has[ofLongNames] && sessions[session] == latin {
		session = 0 // its character set has no such names, and Verify says so
	}
	t := &trial{world: w, run: u, admin: u.admins[which], db: u.pools[which][session], database: databases[which], kill: w.has[ofKills]}
	if u.only > 0 {
		for _, table := range w.tables {
			fmt.Println(table.ddl(0) + ";")
		}
		for _, tr := range w.triggers {
			fmt.Println("CREATE TRIGGER", ident.Quote(tr.name), tr.text+";")
		}
	}
	t.label = fmt.Sprintf("round %d, %s", u.rounds, strings.Join(w.list(), ", "))
	err = t.play(ctx)
	if errors.Is(err, errNotMade) {
		u.bad++
		fmt.Printf("   round %d is not made: %v\n", u.rounds, err)
		err = nil
	} else if err == nil {
		u.tally.add(w.list(), t.worked, t.refusal)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", t.label, err)
	}
	return errors.Join(err, t.clean(ctx))
}

// list are the features that a round has.
func (w *world) list() (names []string) {
	for name, has := range w.has {
		if has {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// chooseFor draws the features of a round.
func (u *run) chooseFor(w *world, forced string) bool {
	w.has, w.at = map[string]bool{}, map[string]int{}
	w.count = 3 + w.r.IntN(4)
	if forced == ofCrowd && !u.crowded {
		return false
	}
	w.value = strings.TrimPrefix(forced, prefixOfValues)
	if w.value == forced {
		w.value = ""
		w.has[forced] = true
	}
	for _, i := range w.r.Perm(len(features)) {
		f := features[i]
		if f.engine != "" && f.engine != u.Engine || f.refused || f.either || w.r.IntN(5) > 0 || u.leaves(f.name) || f.name == ofCrowd && (!u.crowded || w.r.IntN(4) > 0) {
			continue
		}
		if !w.excludes(f) {
			w.has[f.name] = true
		}
	}
	for _, f := range features {
		w.at[f.name] = w.r.IntN(w.count)
		switch f.name {
		case ofGeneratedEdge, ofDetach, ofWideKey, ofInexactKey:
			w.at[f.name] = 1 + w.r.IntN(w.count-1)
		case ofSiblings:
			w.at[f.name] = w.count - 1
		}
		if w.has[ofVerbs] && w.at[f.name] == 0 && f.name != ofWide && f.name != ofCompressed && f.name != ofRowFormat {
			w.at[f.name] = 1
		}
	}
	return true
}

// excludes says whether the feature does not go with one that the round has.
func (w *world) excludes(f feature) bool {
	if w.has[f.name] || slices.ContainsFunc(f.without, func(name string) bool { return w.has[name] }) {
		return true
	}
	return slices.ContainsFunc(features, func(other feature) bool { return w.has[other.name] && slices.Contains(other.without, f.name) })
}

// clean drops what the round has made.
func (t *trial) clean(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
	defer cancel()
	conn, err := t.admin.Conn(ctx)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	queries := []string{"SET SESSION foreign_key_checks = 0"}
	if views := slices.Concat(t.views, t.hidden); len(views) > 0 {
		queries = append(queries, "DROP VIEW IF EXISTS "+ident.Quotes(views...))
	}
	drop := append(t.made, "f_log", "f_count", "f_switch")
	for _, table := range t.tables {
		for _, name := range []string{table.name, table.archive} {
			if name != "" && !slices.Contains(t.hidden, name) {
				drop = append(drop, name, ident.TrashTable(name))
			}
		}
	}
	queries = append(queries, "DROP TABLE IF EXISTS "+ident.Quotes(drop...))
	for _, name := range []string{"onerow_trash", "onerow_job", "onerow_job_archive", "onerow_deletion", "onerow_parked"} {
		queries = append(queries, "DELETE FROM "+name)
	}
	for _, query := range append(queries, "SET SESSION foreign_key_checks = 1") {
		if _, e := conn.ExecContext(ctx, query); e != nil {
			err = errors.Join(err, fmt.Errorf("soak: clean: %w: %s", e, query))
		}
	}
	return err
}
