package deletion

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/inspect"
	"github.com/onerow/onerow/cascade/internal/fit"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/target"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/planfile"
)

// Plan is the dry run: `plan` as in what would happen.
type Plan struct {
	shell.PlanFlag
	JSON     bool   `name:"json" help:"Print a JSON object."`
	Limit    int    `default:"10000" placeholder:"N" help:"Count at most N rows of each table (10000)."`
	Exact    bool   `help:"Count to the end, however long it takes, with progress; one key of each row is kept in memory."`
	SQL      bool   `name:"sql" help:"Print the statements that workers send instead, to be explained by the server."`
	YAML     bool   `name:"yaml" help:"Print the plan itself instead, as a file for --plan: of a program whose plan is written in Go."`
	Resource string `arg:"" optional:"" help:"The resource's or table's name in the plan, as in project."`
	ID       string `arg:"" optional:"" name:"id" help:"The row's key: 42, a UUID, 0x00ff, text, or 101,1993-09-21 for several columns."`
}

// EstimateJSON is an estimate as it is printed.
type EstimateJSON struct {
	Root           bool             `json:"root"`
	Tables         map[string]int64 `json:"tables"`
	Capped         []string         `json:"capped"`
	Detached       map[string]int64 `json:"detached"`
	CappedDetached []string         `json:"capped_detached"`
	Assets         int64            `json:"assets"`
	Batches        int64            `json:"batches"`
	Loops          []inspect.Loop   `json:"loops,omitempty"`
}

// Validate wants a row, --sql or --yaml.
func (c *Plan) Validate() error {
	switch {
	case c.YAML && (c.Resource != "" || c.Exact || c.SQL || c.JSON):
		return usage.Errorf("--yaml prints the whole plan, and nothing else")
	case c.YAML:
	case c.SQL && (c.Resource != "" || c.Exact):
		return usage.Errorf("--sql is about the whole plan, and counts nothing")
	case c.SQL:
	case c.Resource == "":
		return usage.Errorf("missing: <resource> <id> (see %s plan --help)", output.ProgramName)
	case c.ID == "":
		return usage.Errorf("missing: <id> (see %s plan --help)", output.ProgramName)
	case !c.Exact && (c.Limit < 1 || c.Limit > 1_000_000):
		return usage.Errorf("--limit is %d; it should be from 1 to 1000000", c.Limit)
	}
	return nil
}

// Run prints the estimate.
func (c *Plan) Run(ctx context.Context, a *shell.App, plan schema.Plan) error {
	switch {
	case c.YAML:
		text, err := planfile.Format(plan)
		if err != nil {
			return err
		}
		return a.Print(string(text))
	case c.SQL:
		return c.statements(ctx, a, plan)
	}
	if _, err := target.Node(plan, c.Resource); err != nil {
		return err
	}
	db, err := a.Open(ctx)
	if err != nil {
		return err
	}
	root, err := target.Typed(ctx, db, plan, c.Resource, c.ID)
	if err != nil {
		return fit.Explained(ctx, db, plan, err)
	}
	show, begin := shell.NewCounter(a), time.Now()
	limit := c.Limit
	if c.Exact {
		limit = 0
	}
	e, err := inspect.DryRun(ctx, db, plan, root.Node.Name, root.Key, limit, func(e inspect.Estimate) {
		show.Say(func() string {
			return fmt.Sprintf("counted %s in %s, %s", output.Plural(output.SumRows(e.Tables), "row"), output.Plural(len(e.Tables), "table"), time.Since(begin).Round(time.Second))
		})
	})
	if err != nil {
		return fit.Explained(ctx, db, plan, err)
	}
	if c.JSON {
		return shell.PrintJSON(a, EstimateJSON{e.Root, e.Tables, sortedNames(e.Capped), e.Detached, sortedNames(e.CappedDetached), e.Assets, e.Batches, e.Loops})
	}
	return a.Print(drawEstimate(plan, root, e))
}

func sortedNames(set map[string]bool) []string {
	return append([]string{}, slices.Sorted(maps.Keys(set))...)
}

func batches(n int64, capped bool) string {
	if n == 1 {
		return output.AtLeast(n, capped, "batch")
	}
	return output.AtLeast(n, capped, "") + " batches"
}

// drawEstimate is the tree with its counts, and what else there is to say.
func drawEstimate(plan schema.Plan, root target.Row, e inspect.Estimate) string {
	var b strings.Builder
	capped := len(e.Capped)+len(e.CappedDetached) > 0
	if !e.Root {
		fmt.Fprintf(&b, "%s is in no table; what is left below it:\n", root)
	}
	t := estimateTree{plan: plan, e: e, shown: map[string]bool{}}
	t.add(root.Node.Name, "", "")
	width := 0
	for _, l := range t.lines {
		width = max(width, utf8.RuneCountInString(l[0]))
	}
	for _, l := range t.lines {
		fmt.Fprintf(&b, "%-*s  %s\n", width, l[0], l[1])
	}
	fmt.Fprintf(&b, "\nto be deleted: %s in %s, %s, in about %s\n", output.AtLeast(output.SumRows(e.Tables), capped, "row"), output.Plural(len(e.Tables), "table"),
		output.AtLeast(e.Assets, capped, "asset"), batches(e.Batches, capped))
	for _, name := range slices.Sorted(maps.Keys(e.Detached)) {
		fmt.Fprintf(&b, "to be detached: %s of %s\n", output.AtLeast(e.Detached[name], e.CappedDetached[name], "row"), output.Printable(name))
	}
	for _, name := range sortedNames(e.CappedDetached) {
		if e.Detached[name] == 0 {
			fmt.Fprintf(&b, "to be detached: perhaps rows of %s\n", output.Printable(name))
		}
	}
	for _, l := range e.Loops {
		fmt.Fprintln(&b, output.Printable(l.Why))
	}
	return b.String()
}

// estimateTree draws the nodes of the plan that have rows to go.
type estimateTree struct {
	plan  schema.Plan
	e     inspect.Estimate
	shown map[string]bool
	lines [][2]string
}

// rows is how many rows of a node go, and whether it is at least as many.
func (t *estimateTree) rows(n schema.Node) (rows int64, capped bool) {
	for _, table := range n.Tables {
		rows += t.e.Tables[table]
		capped = capped || t.e.Capped[table]
	}
	return rows, capped
}

func (t *estimateTree) add(name, first, rest string) {
	var n schema.Node
	var below []string
	for _, node := range t.plan.Nodes() {
		if node.Name == name {
			n = node
		}
		for _, e := range node.Parents {
			rows, capped := t.rows(node)
			if e.Table == name && node.Name != name && e.OnDelete == schema.OnDeleteDelete && (rows > 0 || capped) && !slices.Contains(below, node.Name) {
				below = append(below, node.Name)
			}
		}
	}
	rows, capped := t.rows(n)
	line := [2]string{first + output.Printable(name), output.AtLeast(rows, capped, "")}
	if t.shown[name] {
		t.lines = append(t.lines, [2]string{line[0], "(counted above)"})
		return
	}
	t.shown[name] = true
	if len(n.Tables) > 1 {
		var parts []string
		for _, table := range n.Tables {
			if count, more := t.e.Tables[table], t.e.Capped[table]; count > 0 || more {
				parts = append(parts, fmt.Sprintf("%s %s", output.Printable(table), output.AtLeast(count, more, "")))
			}
		}
		if len(parts) > 0 {
			line[1] += " (" + strings.Join(parts, ", ") + ")"
		}
	}
	t.lines = append(t.lines, line)
	for i, child := range below {
		if i+1 < len(below) {
			t.add(child, rest+"├─ ", rest+"│  ")
		} else {
			t.add(child, rest+"└─ ", rest+"   ")
		}
	}
}

// planStatement is a statement that workers send for the rows of a table. Its keys are those of two rows that
// are there, or question marks; a worker lists up to 500.
type planStatement struct {
	Table  string `json:"table"`
	Parent string `json:"parent"` // the resource or table above, by which the rows are found
	What   string `json:"what"`
	SQL    string `json:"sql"`
}

// statements prints what workers send, as a file of SQL.
func (c *Plan) statements(ctx context.Context, a *shell.App, plan schema.Plan) error {
	db, err := a.Open(ctx)
	if err != nil {
		return err
	}
	if err := plan.Check(); err != nil {
		return err
	}
	var list []work.Statement
	g, err := graph.Read(ctx, db, plan)
	if err == nil {
		list, err = work.Statements(ctx, db, g)
	}
	if err != nil {
		return fit.Explained(ctx, db, plan, err)
	}
	if c.JSON {
		all := make([]planStatement, len(list))
		for i, s := range list {
			all[i] = planStatement(s)
		}
		return shell.PrintJSON(a, all)
	}
	var b strings.Builder
	b.WriteString("-- What workers send for the rows of each table, in the order of a batch, with keys of rows that are there,\n" +
		"-- or ?. Put EXPLAIN before a statement; run none of them by itself.\n")
	last := ""
	for _, s := range list {
		if title := fmt.Sprintf("\n-- %s, below %s\n", output.Printable(s.Table), output.Printable(s.Parent)); title != last {
			b.WriteString(title)
			last = title
		}
		fmt.Fprintf(&b, "-- %s\n%s;\n", s.What, s.SQL)
	}
	return a.Print(b.String())
}
