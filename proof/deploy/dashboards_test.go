package deploy

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// board is a dashboard and where it is.
type board struct {
	path string
	dashboard.Dashboard
	complaints []string
}

func (b *board) say(format string, args ...any) {
	b.complaints = append(b.complaints, b.path+": "+fmt.Sprintf(format, args...))
}

// boards decodes the dashboards: a field that Grafana's schema does not have is a complaint.
func boards(files tree) (all []*board) {
	plugins.RegisterDefaultPlugins()
	for _, path := range slices.Sorted(slices.Values(files.under("deploy/grafana", ".json"))) {
		b := &board{path: path}
		// The strict reader leaves panels out, so what it has read is not used. An error of it without a word
		// is none.
		if err := new(dashboard.Dashboard).UnmarshalJSONStrict([]byte(files[path])); err != nil && err.Error() != "" { //nolint:staticcheck // Grafana 12 provisions this version
			b.say("%v", err)
		}
		if err := json.Unmarshal([]byte(files[path]), &b.Dashboard); err != nil {
			b.say("%v", err)
		}
		if err := b.Validate(); err != nil {
			b.say("%v", err)
		}
		all = append(all, b)
	}
	return all
}

// chosen is the data source that the reader chooses above the dashboard.
const chosen = "${datasource}"

func (b *board) wantSource(where string, source *common.DataSourceRef) {
	switch {
	case source == nil || source.Type == nil || source.Uid == nil:
		b.say("%s has no data source", where)
	case *source.Type != "prometheus" || *source.Uid != chosen:
		b.say("%s has the data source %s %s", where, *source.Type, *source.Uid)
	}
}

// columns is how wide Grafana's grid is.
const columns = 24

// check looks at what the schema allows and no reader wants.
func (b *board) check() {
	if b.Uid == nil || b.Title == nil || *b.Uid == "" || *b.Title == "" {
		b.say("it has no uid or no title")
	}
	ids, titles, cells := map[uint32]bool{}, map[string]bool{}, map[[2]uint32]string{}
	for i, either := range b.Panels {
		p := either.Panel
		if p == nil || p.Title == nil || *p.Title == "" || p.Id == nil || p.GridPos == nil {
			b.say("panel %d is a row, or has no title, id or place", i+1)
			continue
		}
		name := "panel " + *p.Title
		if ids[*p.Id] {
			b.say("%s: another panel has the id %d", name, *p.Id)
		}
		if titles[*p.Title+p.Type] {
			b.say("%s: another panel has the title", name)
		}
		ids[*p.Id], titles[*p.Title+p.Type] = true, true
		b.wantSource(name, p.Datasource)
		if p.Description == nil || *p.Description == "" {
			b.say("%s has no description", name)
		}
		if at := p.GridPos; at.W == 0 || at.H == 0 || at.X+at.W > columns {
			b.say("%s does not fit into the grid", name)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := cells[[2]uint32{x, y}]; other != "" && other != name {
					b.say("%s lies upon %s", name, other)
					x, y = columns, p.GridPos.Y+p.GridPos.H // once is enough
					continue
				}
				cells[[2]uint32{x, y}] = name
			}
		}
		b.checkTargets(name, p)
	}
}

func (b *board) checkTargets(name string, p *dashboard.Panel) {
	if len(p.Targets) == 0 {
		b.say("%s asks for nothing", name)
	}
	refs := map[string]bool{}
	for _, target := range p.Targets {
		q, ok := target.(*prometheus.Dataquery)
		if !ok {
			b.say("%s: a query is of the kind %T", name, target)
			continue
		}
		if q.RefId == nil {
			b.say("%s: a query has no refId", name)
			continue
		}
		b.wantSource(name+", query "+*q.RefId, q.Datasource)
		if refs[*q.RefId] {
			b.say("%s has two queries %q", name, *q.RefId)
		}
		refs[*q.RefId] = true
	}
}

var (
	variable    = regexp.MustCompile(`\$\{?(\w+)\}?`)
	labelValues = regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`)
	shownLabel  = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)
)

// queries are those of the panels and the variables, with the values that the variables have at first. A rate
// is over minutes, as a busy machine may take so long for what is scraped.
func (b *board) queries() (all []query) {
	values, used := map[string]string{"__rate_interval": "10m"}, map[string]bool{"__rate_interval": true}
	for _, v := range b.Templating.List {
		switch {
		case v.Type == dashboard.VariableTypeDatasource && "${"+v.Name+"}" == chosen:
		case v.Type == dashboard.VariableTypeQuery && v.AllValue != nil && v.Definition != nil:
			b.wantSource("variable "+v.Name, v.Datasource)
			of := labelValues.FindStringSubmatch(*v.Definition)
			if of == nil || v.Query == nil || v.Query.Map["query"] != *v.Definition {
				b.say("variable %s: the definition %q is no label_values, or not the query %v", v.Name, *v.Definition, v.Query)
				continue
			}
			values[v.Name] = *v.AllValue
			all = append(all, query{where: b.path + ": variable " + v.Name, expr: of[1], shows: []string{of[2]}})
		default:
			b.say("variable %s: nobody knows how to fill it in", v.Name)
		}
	}
	for _, either := range b.Panels {
		if either.Panel == nil || either.Panel.Title == nil {
			continue // check has said so
		}
		for _, target := range either.Panel.Targets {
			q, ok := target.(*prometheus.Dataquery)
			if !ok {
				continue
			}
			one := query{where: b.path + ": " + *either.Panel.Title, expr: variable.ReplaceAllStringFunc(q.Expr, func(found string) string {
				name := variable.FindStringSubmatch(found)[1]
				if _, known := values[name]; !known {
					b.say("%s: there is no variable %s", *either.Panel.Title, name)
				}
				used[name] = true
				return values[name]
			})}
			if q.LegendFormat != nil {
				for _, name := range shownLabel.FindAllStringSubmatch(*q.LegendFormat, -1) {
					one.shows = append(one.shows, name[1])
				}
			}
			all = append(all, one)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !used[name] {
			b.say("no panel uses the variable %s", name)
		}
	}
	return all
}

// dashboards are the complaints of all of them, and their queries.
func dashboards(files tree) (queries []query, complaints []string) {
	uids := map[string]string{}
	for _, b := range boards(files) {
		b.check()
		queries = append(queries, b.queries()...)
		if b.Uid != nil {
			if other := uids[*b.Uid]; other != "" {
				b.say("%s has the uid too", other)
			}
			uids[*b.Uid] = b.path
		}
		complaints = append(complaints, b.complaints...)
	}
	if len(uids) == 0 {
		complaints = append(complaints, "there is no dashboard")
	}
	return queries, complaints
}

// TestDashboards: each dashboard is one that Grafana reads, and its panels have what they need.
func TestDashboards(t *testing.T) {
	const path = "deploy/grafana/queue.json"
	source := `"datasource": {"type": "prometheus", "uid": "${datasource}"}`
	wantFound(t, readTree(t), func(files tree) []string { _, complaints := dashboards(files); return complaints },
		planted{path, `"description"`, `"descriptoin"`, "descriptoin"},
		planted{path, `"colorMode"`, `"colourMode"`, "colourMode"},
		planted{path, source + ",\n      \"gridPos\"", `"gridPos"`, "Workers alive has no data source"},
		planted{path, `"refId": "A", ` + source, `"refId": "A"`, "query A has no data source"},
		planted{path, source, strings.Replace(source, "${datasource}", "prom", 1), "has the data source prometheus prom"},
		planted{path, `"id": 2,`, `"id": 1,`, "another panel has the id 1"},
		planted{path, `"x": 4, "y": 0`, `"x": 3, "y": 0`, "lies upon panel Workers alive"},
		planted{path, `"x": 20, "y": 0`, `"x": 21, "y": 0`, "does not fit"},
		planted{path, `"uid": "onerow-queue"`, `"uid": "onerow-trash"`, "has the uid too"},
		planted{path, `[$__rate_interval]`, `[$interval]`, "there is no variable interval"},
		planted{"deploy/grafana/worker.json", `"definition": "label_values(onerow_cascade_workers`, `"definition": "label_values(onerow_cascade_jobs`, "not the query"},
	)
}
