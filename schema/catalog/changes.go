package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema"
)

// described is what [Catalog.Describe] writes down.
type described struct {
	Nodes   []schema.Node
	Tables  []describedTable
	Foreign []string
}

type describedTable struct {
	Name, Kind, Engine string
	Primary            []string
	Columns            []string // each with its name, type, character set, collation, and whether it may be NULL
	Triggers           []string
}

// Changes says in words what is different between two texts of [Catalog.Describe]: of the plan first, then of
// the tables, then of foreign keys. It is empty where a text is not one of these.
func Changes(before, now string) []string {
	var was, is described
	if json.Unmarshal([]byte(before), &was) != nil || json.Unmarshal([]byte(now), &is) != nil {
		return nil
	}
	var all []string
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	byName(was.Nodes, is.Nodes, func(n schema.Node) string { return n.Name }, func(name string, a, b *schema.Node) {
		switch {
		case a == nil:
			say("the plan: %s is new", name)
		case b == nil:
			say("the plan: %s is not in it any more", name)
		default:
			nodeChanges(*a, *b, say)
		}
	})
	byName(was.Tables, is.Tables, func(t describedTable) string { return t.Name }, func(name string, a, b *describedTable) {
		if a != nil && b != nil { // else the plan has changed
			tableChanges(*a, *b, say)
		}
	})
	same := func(s string) string { return s }
	byName(was.Foreign, is.Foreign, same, func(key string, a, b *string) {
		switch {
		case a == nil:
			say("the foreign key %s is new", key)
		case b == nil:
			say("the foreign key %s is gone", key)
		}
	})
	return all
}

// byName calls fn for each name of either list, sorted, with what it is in both; nil where it is missing.
func byName[T any](was, is []T, name func(T) string, fn func(name string, a, b *T)) {
	before, now := map[string]*T{}, map[string]*T{}
	all := map[string]bool{}
	for i := range was {
		before[name(was[i])], all[name(was[i])] = &was[i], true
	}
	for i := range is {
		now[name(is[i])], all[name(is[i])] = &is[i], true
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		fn(key, before[key], now[key])
	}
}

func nodeChanges(a, b schema.Node, say func(string, ...any)) {
	edge := func(e schema.Edge) string {
		text := fmt.Sprintf("%s (%s) → %s (%s)", a.Name, strings.Join(e.Columns, ", "), e.Table, strings.Join(e.References, ", "))
		for _, column := range slices.Sorted(maps.Keys(e.When)) {
			text += fmt.Sprintf(" where %s is %q", column, e.When[column])
		}
		return text
	}
	byName(a.Parents, b.Parents, edge, func(name string, x, y *schema.Edge) {
		switch {
		case x == nil:
			say("the plan: the edge %s is new", name)
		case y == nil:
			say("the plan: the edge %s is not in it any more", name)
		case x.OnDelete != y.OnDelete:
			say("the plan: on_delete of the edge %s is now %s, was %s", name, y.OnDelete, x.OnDelete)
		}
	})
	trash := func(n schema.Node) string { return map[bool]string{true: "kept", false: "none"}[n.Trash > 0] }
	for _, f := range []struct {
		what     string
		was, now any
	}{
		{"tables", a.Tables, b.Tables}, {"key", a.Key, b.Key}, {"asset", a.Asset, b.Asset}, {"owner", a.Owner, b.Owner}, {"quota", a.Quota, b.Quota},
		{"tenant", a.Tenant, b.Tenant}, {"limits", a.Limits, b.Limits}, {"stays", a.Stays, b.Stays}, {"trash", trash(a), trash(b)}, {"resource", a.Managed, b.Managed},
	} {
		if was, now := fmt.Sprint(f.was), fmt.Sprint(f.now); was != now {
			say("the plan: %s of %s is now %q, was %q", f.what, a.Name, now, was)
		}
	}
}

func tableChanges(a, b describedTable, say func(string, ...any)) {
	switch {
	case a.Kind == b.Kind && a.Engine == b.Engine:
	case b.Kind == "":
		say("table %s: it is gone", a.Name)
		return
	case a.Kind == "":
		say("table %s: it is there now", a.Name)
		return
	default:
		say("table %s: it is now a %s of %s, was a %s of %s", a.Name, b.Kind, b.Engine, a.Kind, a.Engine)
	}
	if was, now := strings.Join(a.Primary, ", "), strings.Join(b.Primary, ", "); was != now {
		say("table %s: the primary key is now (%s), was (%s)", a.Name, now, was)
	}
	column := func(s string) string { name, _, _ := strings.Cut(s, " "); return name }
	byName(a.Columns, b.Columns, column, func(name string, x, y *string) {
		switch {
		case x == nil:
			say("table %s: column %s is new", a.Name, name)
		case y == nil:
			say("table %s: column %s is gone, or not shown to this user", a.Name, name)
		case *x != *y:
			was, now := columnWords(*x, *y)
			say("table %s: column %s is now %s, was %s", a.Name, name, now, was)
		}
	})
	same := func(s string) string { return s }
	byName(a.Triggers, b.Triggers, same, func(name string, x, y *string) {
		switch {
		case x == nil:
			say("table %s: the trigger %s is new", a.Name, name)
		case y == nil:
			say("table %s: the trigger %s is gone", a.Name, name)
		}
	})
}

// columnWords puts two definitions of a column into words, with what is different in them.
func columnWords(was, now string) (before, after string) {
	a, b := strings.Split(was, " "), strings.Split(now, " ")
	if len(a) < 5 || len(b) < 5 {
		return was, now
	}
	words := func(s, other []string) string {
		n, m := len(s), len(other)
		text := strings.Join(s[1:n-3], " ")
		if s[n-3] != other[m-3] || s[n-2] != other[m-2] {
			text = strings.TrimSpace(text + " " + s[n-3] + " " + s[n-2])
		}
		if s[n-1] != other[m-1] {
			text += map[string]string{"true": " NULL", "false": " NOT NULL"}[s[n-1]]
		}
		return text
	}
	return words(a, b), words(b, a)
}
