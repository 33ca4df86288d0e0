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
}

// Help is the command's longer description.
func (discoverCmd) Help() string {
	return `Reads the foreign keys of the database and prints a plan: the tables that can be
reached from the roots, their keys, and what becomes of their rows. Comments say what a
person should know. It only reads.

Add what no foreign key says: rows that belong to one of several tables (when), columns
that refer to a row without a foreign key, archive tables, assets.

Examples:

    cascade-worker discover --root customer > plan.yaml
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
	db, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	plan, notes, err := schema.Discover(ctx, db, roots)
	switch {
	case errors.Is(err, schema.ErrUnknownTable):
		return usage(err)
	case err != nil:
		return err
	}
	text := planText(plan, roots, notes)
	if _, err := planfile.Parse("the discovered plan", []byte(text)); err != nil {
		return err
	}
	_, err = fmt.Fprint(a.stdout, text)
	return err
}

// planText is a plan in YAML with its notes as comments.
func planText(plan schema.Plan, roots []string, notes []schema.Note) string {
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
			fmt.Fprintf(&b, "      - {table: %s, columns: %s", scalar(e.Table), flowList(e.Columns))
			if len(e.References) > 0 {
				fmt.Fprintf(&b, ", references: %s", flowList(e.References))
			}
			if e.OnDelete != "" {
				fmt.Fprintf(&b, ", on_delete: %s", e.OnDelete)
			}
			b.WriteString("}\n")
		}
	}
	return b.String()
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
