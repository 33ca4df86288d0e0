package catalog

import (
	"encoding/json"
	"maps"
	"slices"
)

// description is what [Catalog.Describe] writes down: what a cascade relies on, and how it is.
type description struct {
	Plan    map[string]map[string]string // by resource or table
	Tables  map[string]map[string]string // by table; nothing is said of one that is missing
	Foreign map[string]string
}

// These texts say that a fact is there no more.
const (
	goneFromPlan     = " is not in it any more"
	goneFromDatabase = " is gone, or not shown to this user"
)

// Changes says in words what is different between two texts of [Catalog.Describe]: of the plan first, then of
// the tables, then of foreign keys. It is empty where a text is not one of these.
func Changes(before, now string) (all []string) {
	var was, is description
	if json.Unmarshal([]byte(before), &was) != nil || json.Unmarshal([]byte(now), &is) != nil {
		return nil
	}
	for _, name := range keysOf(was.Plan, is.Plan) {
		switch a, b := was.Plan[name], is.Plan[name]; {
		case a == nil:
			all = append(all, "the plan: "+name+" is new")
		case b == nil:
			all = append(all, "the plan: "+name+goneFromPlan)
		default:
			all = append(all, differences("the plan: ", a, b, goneFromPlan)...)
		}
	}
	for _, name := range keysOf(was.Tables, is.Tables) {
		switch a, b := was.Tables[name], is.Tables[name]; {
		case a == nil || b == nil || len(a)+len(b) == 0: // the plan has changed, or it is missing as before
		case len(a) == 0:
			all = append(all, "table "+name+": it is there now")
		case len(b) == 0:
			all = append(all, "table "+name+": it is gone")
		default:
			all = append(all, differences("table "+name+": ", a, b, goneFromDatabase)...)
		}
	}
	return append(all, differences("the foreign key ", was.Foreign, is.Foreign, " is gone")...)
}

// differences says which facts are new, gone or other.
func differences(about string, was, is map[string]string, gone string) (all []string) {
	for _, fact := range keysOf(was, is) {
		before, had := was[fact]
		now, has := is[fact]
		switch {
		case !had:
			all = append(all, about+fact+" is new")
		case !has:
			all = append(all, about+fact+gone)
		case before != now:
			all = append(all, about+fact+" is now "+now+", was "+before)
		}
	}
	return all
}

// keysOf returns the keys of both, sorted.
func keysOf[V any](a, b map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}
