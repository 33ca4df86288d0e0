package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"html"
	"io/fs"
	"path"
	"strings"
)

const module = "github.com/onerow/onerow"

// reference renders a package's page: its documentation, and what it exports.
func (s *site) reference(p *page) error {
	fset := token.NewFileSet()
	entries, err := fs.ReadDir(s.files, p.source)
	if err != nil {
		return err
	}
	var files []*ast.File
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := fs.ReadFile(s.files, path.Join(p.source, e.Name()))
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, e.Name(), text, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	importPath := path.Join(module, p.source)
	pkg, err := doc.NewFromFiles(fset, files, importPath)
	if err != nil {
		return err
	}
	p.title = packageName(p.source)
	w := &writer{s: s, p: p, pkg: pkg, fset: fset}
	w.printf("<h1>%s</h1>\n<p><code>import %q</code></p>\n", html.EscapeString(p.title), importPath)
	if pkg.Name == "main" {
		w.printf("<p>A command: <code>go run %s</code></p>\n", html.EscapeString(importPath))
	}
	w.section(p.title, "")
	w.text(pkg.Doc)
	if pkg.Name == "main" {
		p.body = w.out.String()
		return nil
	}
	w.values("Constants", pkg.Consts)
	w.values("Variables", pkg.Vars)
	w.funcs(pkg.Funcs)
	for _, t := range pkg.Types {
		w.printf("<h2 id=\"%s\">type %s</h2>\n", t.Name, t.Name)
		w.section(p.title+"."+t.Name, t.Name)
		w.fields(t)
		w.decl(t.Decl)
		w.text(t.Doc)
		for _, v := range append(t.Consts, t.Vars...) {
			w.value(v)
		}
		w.funcs(t.Funcs)
		w.funcs(t.Methods)
	}
	p.body = w.out.String()
	return nil
}

// writer writes a package's page.
type writer struct {
	s    *site
	p    *page
	pkg  *doc.Package
	fset *token.FileSet
	out  bytes.Buffer
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(&w.out, format, args...) }

// section begins what a search finds by this title.
func (w *writer) section(title, anchor string) {
	w.p.anchors[anchor] = true
	w.p.sections = append(w.p.sections, section{Title: title, anchor: anchor})
}

// text writes a doc comment.
func (w *writer) text(comments string) {
	last := &w.p.sections[len(w.p.sections)-1]
	last.Text += comments + " "
	printer := &comment.Printer{HeadingLevel: 3, DocLinkURL: w.url}
	w.out.Write(printer.HTML(w.pkg.Parser().Parse(comments)))
}

// url is where a link of a comment, as in [repo.New], leads: nowhere in the site if it is not of this
// project.
func (w *writer) url(link *comment.DocLink) string {
	anchor := link.Name
	if link.Recv != "" {
		anchor = link.Recv + "." + link.Name
	}
	if anchor != "" {
		anchor = "#" + anchor
	}
	dir, ours := strings.CutPrefix(link.ImportPath, module)
	switch {
	case link.ImportPath == "":
		return anchor
	case !ours:
		return "https://pkg.go.dev/" + link.ImportPath + anchor
	}
	if dir = strings.TrimPrefix(dir, "/"); dir == "" {
		dir = "."
	}
	if to := w.s.pageOf[dir]; to != nil {
		return relative(w.p.path, to.path) + anchor
	}
	return repository + dir
}

func (w *writer) decl(node ast.Node) {
	var code bytes.Buffer
	if err := format.Node(&code, w.fset, node); err != nil {
		code.WriteString(err.Error())
	}
	w.printf("<pre><code>%s</code></pre>\n", html.EscapeString(code.String()))
}

// fields sets the anchors of a struct's fields, and of an interface's methods.
func (w *writer) fields(t *doc.Type) {
	ast.Inspect(t.Decl, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok {
			for _, name := range field.Names {
				w.printf("<a id=\"%s.%s\"></a>", t.Name, name.Name)
			}
			return false
		}
		return true
	})
}

func (w *writer) values(title string, list []*doc.Value) {
	if len(list) == 0 {
		return
	}
	id := strings.ToLower(title)
	w.printf("<h2 id=\"%s\">%s</h2>\n", id, title)
	w.section(w.p.title+": "+id, id)
	for _, v := range list {
		w.value(v)
	}
}

func (w *writer) value(v *doc.Value) {
	for _, name := range v.Names {
		w.p.anchors[name] = true
		w.p.sections[len(w.p.sections)-1].Text += name + " "
		w.printf("<a id=\"%s\"></a>", name)
	}
	w.decl(v.Decl)
	w.text(v.Doc)
}

func (w *writer) funcs(list []*doc.Func) {
	for _, f := range list {
		name := f.Name
		if f.Recv != "" {
			name = strings.Trim(strings.TrimPrefix(f.Recv, "*"), "*") + "." + f.Name
			name, _, _ = strings.Cut(name, "[")
			if !strings.Contains(name, ".") {
				name += "." + f.Name
			}
		}
		w.printf("<h3 id=\"%s\">func %s</h3>\n", name, html.EscapeString(name))
		w.section(w.p.title+"."+name, name)
		w.decl(f.Decl)
		w.text(f.Doc)
	}
}
