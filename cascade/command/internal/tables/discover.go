package tables

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/discover"
	"github.com/onerow/onerow/schema/live"
	"github.com/onerow/onerow/schema/planfile"
)

// Discover prints a plan of the foreign keys of a database.
type Discover struct {
	Root []string `sep:"," placeholder:"TABLE" help:"Tables whose rows are to be deleted with all that is below them."`
	Soft []string `sep:"," placeholder:"COLUMN=TABLE" help:"References without a foreign key: every column of that name refers to the table's key, or to TABLE.COLUMN."`
	Plan string   `placeholder:"FILE" help:"Extend this plan: what a person has written stays, what is new comes behind it."`
}

// Run prints the plan.
func (c *Discover) Run(ctx context.Context, a *shell.App, db shell.BareDB) error {
	var roots []string
	for _, name := range c.Root {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(roots, name) {
			roots = append(roots, name)
		}
	}
	if len(roots) == 0 && c.Plan == "" {
		return usage.Errorf("--root names no table")
	}
	var old schema.Plan
	var text []byte
	if c.Plan != "" {
		var err error
		if text, err = os.ReadFile(c.Plan); err != nil {
			return usage.Errorf("--plan: %w", err)
		}
		if old, err = planfile.Parse(c.Plan, text); err != nil {
			return usage.Mark(err)
		}
	}
	plan, notes, proposals, err := discover.Plan(ctx, db, old, roots, c.Soft)
	switch {
	case errors.Is(err, discover.ErrUnknownTable):
		return usage.Mark(err)
	case err != nil:
		return err
	}
	if c.Plan != "" {
		return c.extended(a, string(text), old, plan, notes, proposals)
	}
	printed := PlanText(plan, roots, notes, proposals)
	if _, err := planfile.Parse("the discovered plan", []byte(printed)); err != nil {
		return err
	}
	return a.Print(printed)
}

// extended prints the old plan with what is new, and says what that is.
func (c *Discover) extended(a *shell.App, text string, old, plan schema.Plan, notes []live.Note, proposals []discover.Proposal) error {
	printed, err := extendedText(c.Plan, text, old, plan, notes, proposals)
	if err != nil {
		return err
	}
	if err := a.Print(printed); err != nil {
		return err
	}
	tables, edges := len(plan.Tables)-len(old.Tables), edgesOf(plan)-edgesOf(old)
	said := fmt.Sprintf("new: %s, %s", output.Plural(tables, "table"), output.Plural(edges, "edge"))
	if tables+edges == 0 {
		said = "nothing is new: the plan has every foreign key"
	}
	if len(proposals) > 0 {
		said += fmt.Sprintf("; %s proposed, in the lines with %s", output.Plural(len(proposals), "edge"), proposalMark)
	}
	for _, n := range notes {
		if n.Table == "" {
			said += "\n" + n.Text
		}
	}
	return a.Note("%s", said)
}

// edgesOf counts a plan's edges.
func edgesOf(p schema.Plan) (n int) {
	for _, node := range p.Nodes() {
		n += len(node.Parents)
	}
	return n
}

// PlanText is a plan in YAML with its notes as comments.
func PlanText(plan schema.Plan, roots []string, notes []live.Note, proposals []discover.Proposal) string {
	var b strings.Builder
	yamlComment(&b, "", fmt.Sprintf("A plan for rows of %s: %s, %s. Made by %s discover; look it over.",
		strings.Join(roots, ", "), output.Plural(len(plan.Tables), "table"), output.Plural(edgesOf(plan), "edge"), output.ProgramName))
	yamlComment(&b, "", "A foreign key keeps a row above until all below are gone, so the root's row goes last.")
	for _, n := range notes {
		if n.Table == "" {
			yamlComment(&b, "", n.Text)
		}
	}
	if len(proposals) > 0 {
		yamlComment(&b, "", fmt.Sprintf("Without a foreign key, but likely by name and type: %s, in the lines with #~. Take it away where you agree.", output.Plural(len(proposals), "reference")))
	}
	b.WriteString("tables:\n")
	for _, t := range plan.Tables {
		writeTable(&b, "  ", t, notes, proposals)
	}
	writeUnplanned(&b, "  ", proposals)
	return b.String()
}

func writeTable(b *strings.Builder, indent string, t schema.Table, notes []live.Note, proposals []discover.Proposal) {
	for _, n := range notes {
		if n.Table == t.Name {
			yamlComment(b, indent, n.Text)
		}
	}
	fmt.Fprintf(b, "%s- name: %s\n%s  key: %s\n", indent, scalar(t.Name), indent, flowList(t.Key))
	if t.Stays {
		fmt.Fprintf(b, "%s  stays: true\n", indent)
	}
	if len(t.Parents) > 0 {
		fmt.Fprintf(b, "%s  parents:\n", indent)
	}
	for _, e := range t.Parents {
		fmt.Fprintf(b, "%s    - %s\n", indent, edgeText(e))
	}
	writeProposed(b, indent+"    ", len(t.Parents) == 0, proposalsFor(proposals, t.Name))
}

// writeUnplanned writes the proposals for tables that the plan has not.
func writeUnplanned(b *strings.Builder, indent string, proposals []discover.Proposal) {
	for i, p := range proposals {
		if p.Planned || slices.ContainsFunc(proposals[:i], func(o discover.Proposal) bool { return o.Table == p.Table }) {
			continue
		}
		fmt.Fprintf(b, proposalMark+"%s- name: %s\n"+proposalMark+"%s  key: %s\n", indent, scalar(p.Table), indent, flowList(p.Key))
		writeProposed(b, indent+"    ", true, proposalsFor(proposals, p.Table))
	}
}

func proposalsFor(proposals []discover.Proposal, table string) (list []discover.Proposal) {
	for _, p := range proposals {
		if p.Table == table {
			list = append(list, p)
		}
	}
	return list
}

// edgeText is an edge as YAML.
func edgeText(e schema.Edge) string {
	text := fmt.Sprintf("{table: %s, columns: %s", scalar(e.Table), flowList(e.Columns))
	if len(e.References) > 0 {
		text += fmt.Sprintf(", references: %s", flowList(e.References))
	}
	if e.OnDelete != "" {
		text += fmt.Sprintf(", on_delete: %s", e.OnDelete)
	}
	return text + "}"
}

// proposalMark begins a line that a person may make a part of the plan by taking the mark away.
const proposalMark = "#~"

// writeProposed writes the proposals for a table, the first of its edges with the key of their list.
func writeProposed(b *strings.Builder, indent string, first bool, proposals []discover.Proposal) {
	for _, p := range proposals {
		if first {
			fmt.Fprintf(b, proposalMark+"%sparents:\n", strings.TrimSuffix(indent, "  "))
		}
		first = false
		fmt.Fprintf(b, proposalMark+"%s- %s # %s\n", indent, edgeText(p.Edge), output.OneLine(strings.Join(p.Evidence, "; ")))
	}
}

// yamlComment writes a text of any length as lines that begin with #.
func yamlComment(b *strings.Builder, indent, text string) {
	const width = 90
	line := ""
	for _, word := range strings.Fields(output.OneLine(text)) {
		if line != "" && len(line)+1+len(word) > width {
			fmt.Fprintf(b, "%s# %s\n", indent, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	fmt.Fprintf(b, "%s# %s\n", indent, line)
}

// bareWord is text that YAML reads as itself, without quotes, wherever it stands.
var bareWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// yamlWords are words that YAML, of some version, reads as something else than text.
var yamlWords = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}

func scalar(text string) string {
	if bareWord.MatchString(text) && !slices.Contains(yamlWords, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(text)
}

func flowList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = scalar(name)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
