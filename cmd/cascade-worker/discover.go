package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/onerow/onerow/cmd/cascade-worker/internal/output"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/planfile"
)

type discoverCmd struct {
	Root []string `required:"" sep:"," placeholder:"TABLE" help:"Tables whose rows are to be deleted with all that is below them."`
	Soft []string `sep:"," placeholder:"COLUMN=TABLE" help:"References without a foreign key: every column of that name refers to the table's key, or to TABLE.COLUMN."`
}

// Help is the command's longer description.
func (discoverCmd) Help() string {
	return `Reads the foreign keys of the database and prints a plan: the tables that can be
reached from the roots, their keys, and what becomes of their rows. Comments say what a
person should know. It only reads.

What only looks like a reference, by its name and type, is proposed in lines that begin with
#~, with what speaks for it: how many of up to 1,000 values are there, whether there is an
index. Take the #~ away where you agree, or declare it with --soft and run discover again.
Add what no name says either: rows that belong to one of several tables (when), archive
tables, assets.

Examples:

    cascade-worker discover --root customer > plan.yaml
    cascade-worker discover --root hosts --soft 'hostid=hosts,itemid=items.itemid'
    cascade-worker discover --root store,film > plan.yaml && cascade-worker verify --plan plan.yaml`
}

// Run prints the plan.
func (c *discoverCmd) Run(ctx context.Context, a *app) (err error) {
	var roots []string
	for _, name := range c.Root {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(roots, name) {
			roots = append(roots, name)
		}
	}
	if len(roots) == 0 {
		return usagef("--root names no table")
	}
	var soft []schema.Soft
	for _, text := range c.Soft {
		s, err := schema.ParseSoft(text)
		if err != nil {
			return usage(err)
		}
		soft = append(soft, s)
	}
	db, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	plan, notes, proposals, err := schema.DiscoverSoft(ctx, db, roots, soft)
	switch {
	case errors.Is(err, schema.ErrUnknownTable):
		return usage(err)
	case err != nil:
		return err
	}
	if err := schema.SampleProposals(ctx, db, proposals); err != nil {
		return err
	}
	text := planText(plan, roots, notes, proposals)
	if _, err := planfile.Parse("the discovered plan", []byte(text)); err != nil {
		return err
	}
	_, err = fmt.Fprint(a.stdout, text)
	return err
}

// planText is a plan in YAML with its notes as comments.
func planText(plan schema.Plan, roots []string, notes []schema.Note, proposals []schema.Proposal) string {
	var b strings.Builder
	edges := 0
	for _, t := range plan.Tables {
		edges += len(t.Parents)
	}
	yamlComment(&b, "", fmt.Sprintf("A plan for rows of %s: %s, %s. Made by %s discover; look it over.",
		strings.Join(roots, ", "), output.Plural(len(plan.Tables), "table"), output.Plural(edges, "edge"), programName))
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
		for _, n := range notes {
			if n.Table == t.Name {
				yamlComment(&b, "  ", n.Text)
			}
		}
		fmt.Fprintf(&b, "  - name: %s\n    key: %s\n", scalar(t.Name), flowList(t.Key))
		if t.Stays {
			b.WriteString("    stays: true\n")
		}
		if len(t.Parents) > 0 {
			b.WriteString("    parents:\n")
		}
		for _, e := range t.Parents {
			b.WriteString(edgeText(e) + "\n")
		}
		proposed(&b, t.Name, len(t.Parents) == 0, proposals)
	}
	for i, p := range proposals {
		first := !slices.ContainsFunc(proposals[:i], func(o schema.Proposal) bool { return o.Table == p.Table })
		if p.Planned || !first {
			continue
		}
		fmt.Fprintf(&b, "#~  - name: %s\n#~    key: %s\n", scalar(p.Table), flowList(p.Key))
		proposed(&b, p.Table, true, proposals)
	}
	return b.String()
}

// edgeText is an edge as a line of YAML.
func edgeText(e schema.Edge) string {
	line := fmt.Sprintf("      - {table: %s, columns: %s", scalar(e.Table), flowList(e.Columns))
	if len(e.References) > 0 {
		line += fmt.Sprintf(", references: %s", flowList(e.References))
	}
	if e.OnDelete != "" {
		line += fmt.Sprintf(", on_delete: %s", e.OnDelete)
	}
	return line + "}"
}

// proposed writes the proposals for a table.
func proposed(b *strings.Builder, table string, first bool, proposals []schema.Proposal) {
	for _, p := range proposals {
		if p.Table != table {
			continue
		}
		if first {
			b.WriteString("#~    parents:\n")
		}
		first = false
		fmt.Fprintf(b, "#~%s # %s\n", edgeText(p.Edge), output.OneLine(strings.Join(p.Evidence, "; ")))
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
