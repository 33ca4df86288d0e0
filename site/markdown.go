package main

import (
	"bytes"
	"fmt"
	"html"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// repository is where files are shown that are no pages.
const repository = "https://github.com/onerow/onerow/blob/main/"

// The documents are the project's own, so what HTML they have may stay.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(gmhtml.WithUnsafe()))

// document renders a page of Markdown.
func (s *site) document(p *page) error {
	source, err := fs.ReadFile(s.files, p.source)
	if err != nil {
		return err
	}
	root := markdown.Parser().Parse(text.NewReader(source))
	current := section{}
	flush := func() {
		if current.Title != "" {
			p.sections = append(p.sections, current)
		}
	}
	err = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			flush()
			title := plain(n, source)
			if p.title == "" {
				p.title = title
			}
			id, _ := n.AttributeString("id")
			anchor := string(id.([]byte))
			p.anchors[anchor] = true
			current = section{Title: title, anchor: anchor}
		case *ast.Link:
			n.Destination = []byte(s.link(p, string(n.Destination)))
		case *ast.Image:
			if target := path.Join(path.Dir(p.source), string(n.Destination)); !strings.Contains(string(n.Destination), "://") {
				n.Destination = []byte(relative(p.path, target))
			}
		case *ast.Text:
			current.Text += string(n.Segment.Value(source)) + " "
		case *extast.Table:
			widths(n, source)
		case *ast.FencedCodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				current.Text += string(line.Value(source))
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	flush()
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, source, root); err != nil {
		return err
	}
	p.body = plainly.Replace(wideTables.ReplaceAllString(out.String(), `<div class="wide $1"><table>$2</table></div>`))
	return nil
}

// wideTables scroll by themselves, so that a phone's page does not. Their class is the box's too.
var wideTables = regexp.MustCompile(`(?s)<table(?: class="([a-z]*)")?>(.*?)</table>`)

// plain is the text of a node.
func plain(n ast.Node, source []byte) string {
	if t, ok := n.(*ast.Text); ok {
		return string(t.Segment.Value(source))
	}
	text := ""
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		text += plain(child, source)
	}
	return text
}

// link is where a link of a document leads in the site.
func (s *site) link(p *page, to string) string {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") || strings.HasPrefix(to, "#") {
		return to
	}
	name, anchor, _ := strings.Cut(to, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	target := path.Join(path.Dir(p.source), name)
	for _, source := range []string{target, path.Join(target, "README.md"), path.Dir(target)} {
		if source == path.Dir(target) && path.Base(target) != "doc.go" {
			continue
		}
		if found := s.pageOf[source]; found != nil {
			return relative(p.path, found.path) + anchor
		}
	}
	if strings.HasSuffix(target, ".svg") {
		return relative(p.path, target)
	}
	return repository + target + anchor
}

// relative is the way from one page to another.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

var attribute = regexp.MustCompile(`(?:href|src)="([^"]*)"|id="([^"]*)"`)

// check returns an error that names each link of a page which leads nowhere. files are those of the site.
func check(files map[string][]byte) (broken []string) {
	anchors := map[string]map[string]bool{}
	for name, text := range files {
		anchors[name] = map[string]bool{}
		for _, found := range attribute.FindAllSubmatch(text, -1) {
			anchors[name][html.UnescapeString(string(found[2]))] = true
		}
	}
	for name, text := range files {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		for _, found := range attribute.FindAllSubmatch(text, -1) {
			to := html.UnescapeString(string(found[1]))
			if to == "" || strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(to, "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			if _, ok := files[target]; !ok {
				broken = append(broken, fmt.Sprintf("%s links %s, which is no page", name, to))
			} else if anchor != "" && !anchors[target][anchor] {
				broken = append(broken, fmt.Sprintf("%s links %s, which has no such anchor", name, to))
			}
		}
	}
	return broken
}
