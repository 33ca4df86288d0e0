package tables

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/discover"
	"github.com/onerow/onerow/schema/live"
	"github.com/onerow/onerow/schema/planfile"
)

// insertion is text that is put into a file of YAML: before a column of a line, counted from 1 in characters,
// or behind the line, with column 0.
type insertion struct {
	line, column int
	text         string
}

// planFileText is a plan's file into which what is new is put. Each line that a person has written stays.
type planFileText struct {
	lines []string
	puts  []insertion
}

// extendedText is the text of the old plan with what only the new one has, and with the proposals.
func extendedText(name, text string, old, plan schema.Plan, notes []live.Note, proposals []discover.Proposal) (string, error) {
	var f planFileText
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if !strings.HasPrefix(line, proposalMark) { // of an earlier discover: what is still one is proposed again
			f.lines = append(f.lines, line)
		}
	}
	file, err := parser.ParseBytes([]byte(strings.Join(f.lines, "\n")), 0)
	if err != nil || len(file.Docs) == 0 {
		return "", fmt.Errorf("%s: %w", name, cmp.Or(err, errors.New("no YAML")))
	}
	root, _ := file.Docs[0].Body.(*ast.MappingNode)
	for i, r := range old.Resources {
		f.node(entry(valueOf(root, "resources"), i), plan.Resources[i].Parents[len(r.Parents):], nil)
	}
	tables, _ := valueOf(root, "tables").(*ast.SequenceNode)
	for i, t := range old.Tables {
		f.node(entry(tables, i), plan.Tables[i].Parents[len(t.Parents):], proposalsFor(proposals, t.Name))
	}
	var b strings.Builder
	indent := "  "
	if tables == nil {
		b.WriteString("tables:\n")
	} else {
		indent = strings.Repeat(" ", max(tables.Start.Position.Column-1, 0))
	}
	for _, t := range plan.Tables[len(old.Tables):] {
		writeTable(&b, indent, t, notes, proposals)
	}
	writeUnplanned(&b, indent, proposals)
	added := strings.TrimSuffix(b.String(), "\n")
	switch {
	case tables == nil && len(plan.Tables) == 0:
	case tables == nil:
		f.behind(len(f.lines), added)
	case added != "":
		f.behind(lastLine(tables), added)
	}
	extended := f.String()
	if again, err := planfile.Parse("the extended plan", []byte(extended)); err != nil || !samePlan(again, plan) {
		return "", errors.Join(usage.Errorf("%s is written in a form that cannot be extended; write its lists with one entry on a line, as discover does", name), err)
	}
	return extended, nil
}

func samePlan(a, b schema.Plan) bool {
	left, err := yaml.Marshal(a)
	right, err2 := yaml.Marshal(b)
	return err == nil && err2 == nil && string(left) == string(right)
}

func valueOf(m *ast.MappingNode, key string) ast.Node {
	if m != nil {
		for _, v := range m.Values {
			if v.Key.GetToken().Value == key {
				return v.Value
			}
		}
	}
	return nil
}

func entry(list ast.Node, i int) *ast.MappingNode {
	s, ok := list.(*ast.SequenceNode)
	if !ok || i >= len(s.Values) {
		return nil
	}
	m, _ := s.Values[i].(*ast.MappingNode)
	return m
}

// node puts edges into a table or a resource.
func (f *planFileText) node(m *ast.MappingNode, edges []schema.Edge, proposals []discover.Proposal) {
	if m == nil || len(m.Values) == 0 || len(edges)+len(proposals) == 0 {
		return
	}
	parents, _ := valueOf(m, "parents").(*ast.SequenceNode)
	flow := make([]string, len(edges))
	for i, e := range edges {
		flow[i] = edgeText(e)
	}
	if m.IsFlowStyle || parents != nil && parents.IsFlowStyle {
		end, before, after := m.End, ", parents: [", "]"
		if parents != nil {
			end, before, after = parents.End, ", ", ""
			if len(parents.Values) == 0 || end.Prev.Value == "," {
				before = ""
			}
		}
		if len(edges) > 0 {
			f.puts = append(f.puts, insertion{end.Position.Line, end.Position.Column, before + strings.Join(flow, ", ") + after})
		}
		f.remark(m, proposals)
		return
	}
	var b strings.Builder
	indent, line := strings.Repeat(" ", m.Values[0].Key.GetToken().Position.Column-1), lastLine(m)
	first := parents == nil
	switch {
	case !first:
		indent, line = strings.Repeat(" ", parents.Start.Position.Column-1), lastLine(parents)
	case len(edges) > 0:
		b.WriteString(indent + "parents:\n")
		fallthrough
	default:
		indent += "  "
	}
	for _, e := range flow {
		fmt.Fprintf(&b, "%s- %s\n", indent, e)
	}
	writeProposed(&b, indent, first && len(edges) == 0, proposals)
	f.behind(line, strings.TrimSuffix(b.String(), "\n"))
}

// remark writes proposals behind a table whose list is within brackets, where taking a mark away does not add
// to it: without the mark each is a comment.
func (f *planFileText) remark(m *ast.MappingNode, proposals []discover.Proposal) {
	for _, p := range proposals {
		f.behind(lastLine(m), fmt.Sprintf(proposalMark+" # for parents of %s: %s # %s", scalar(p.Table), edgeText(p.Edge), output.OneLine(strings.Join(p.Evidence, "; "))))
	}
}

func (f *planFileText) behind(line int, text string) {
	f.puts = append(f.puts, insertion{line: line, text: text})
}

// String is the file with what was put into it.
func (f *planFileText) String() string {
	lines, puts := slices.Clone(f.lines), slices.Clone(f.puts)
	slices.SortStableFunc(puts, func(a, b insertion) int { return cmp.Compare(a.line, b.line) })
	// From the end, so that the places stay right.
	for _, put := range slices.Backward(puts) {
		if put.column == 0 {
			lines = slices.Insert(lines, put.line, put.text)
			continue
		}
		at := []rune(lines[put.line-1])
		lines[put.line-1] = string(at[:put.column-1]) + put.text + string(at[put.column-1:])
	}
	return strings.Join(lines, "\n") + "\n"
}

// lastLine is where a node ends.
func lastLine(n ast.Node) int {
	w := &lastLines{}
	ast.Walk(w, n)
	return w.line
}

type lastLines struct{ line int }

// Visit looks at a node, and at the bracket that ends it.
func (w *lastLines) Visit(n ast.Node) ast.Visitor {
	last := n.GetToken()
	switch n := n.(type) {
	case *ast.SequenceNode:
		last = cmp.Or(n.End, last)
	case *ast.MappingNode:
		last = cmp.Or(n.End, last)
	}
	w.line = max(w.line, last.Position.Line)
	return w
}
