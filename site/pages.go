package main

import (
	"go/parser"
	"go/token"
	"html"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// page is a page of the site.
type page struct {
	source string // the file, or the folder of the package, in the checkout
	path   string // of the page in the site
	title  string
	group  string // under which it stands in the menu; empty: it does not
	body   string // HTML
	// uses are the packages that a recipe's code imports; of a package, the recipes that import it.
	uses []*page
	// anchors are the ids in the body, sections what a search finds.
	anchors  map[string]bool
	sections []section
}

// section is what a search finds: the text below a heading.
type section struct {
	Page   string `json:"page"`
	Title  string `json:"title"`
	URL    string `json:"url"`
	Text   string `json:"text"`
	anchor string
}

type site struct {
	files fs.FS
	pages []*page
	// pageOf finds a page by its source.
	pageOf map[string]*page
}

// Groups of the menu, in their order.
const (
	groupStart     = "Start"
	groupGuides    = "Guides"
	groupCookbook  = "Cookbook"
	groupTrust     = "Trust"
	groupReference = "Reference"
	groupResults   = "Results"
)

// first are pages that stand before the others of their groups, in this order.
var first = map[string]string{
	"README.md": groupStart, "docs/TUTORIAL.md": groupStart,
	"docs/ADOPTING.md": groupGuides, "docs/OPERATIONS.md": groupGuides, "docs/ONLINE-DDL.md": groupGuides, "docs/CLUSTERS.md": groupGuides, "docs/ERRORS.md": groupGuides,
	"cookbook/README.md": groupCookbook,
	"docs/GUARANTEES.md": groupTrust, "docs/TESTED.md": groupTrust, "docs/PERFORMANCE.md": groupTrust,
}

// load reads the documents and the packages.
func load(files fs.FS) (*site, error) {
	s := &site{files: files, pageOf: map[string]*page{}}
	var documents []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/results/*.md", "docs/upstream/*.md", "cookbook/README.md", "cookbook/r*/README.md"} {
		found, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, err
		}
		documents = append(documents, found...)
	}
	for _, name := range documents {
		s.add(&page{source: name, path: htmlOf(name), group: groupOf(name)})
	}
	packages, err := findPackages(files)
	if err != nil {
		return nil, err
	}
	for _, dir := range packages {
		s.add(&page{source: dir, path: "pkg/" + packageName(dir) + ".html", group: groupReference})
	}
	return s, s.relate()
}

// relate links recipes and the packages that their code imports, both ways.
func (s *site) relate() error {
	for _, recipe := range s.pages {
		if recipe.group != groupCookbook || recipe.source == "cookbook/README.md" {
			continue
		}
		text, err := fs.ReadFile(s.files, path.Join(path.Dir(recipe.source), "onerow.go"))
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), "onerow.go", text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range file.Imports {
			name := strings.Trim(i.Path.Value, `"`)
			dir, ours := strings.CutPrefix(name, module+"/")
			if name == module {
				dir, ours = ".", true
			}
			if of := s.pageOf[dir]; ours && of != nil {
				recipe.uses, of.uses = append(recipe.uses, of), append(of.uses, recipe)
			}
		}
	}
	return nil
}

// related is the line below a page that links what it has to do with.
func (p *page) related() string {
	if len(p.uses) == 0 {
		return ""
	}
	var links []string
	for _, other := range p.uses {
		links = append(links, `<a href="`+relative(p.path, other.path)+`">`+html.EscapeString(other.title)+`</a>`)
	}
	title := "Recipes that use it"
	if p.group == groupCookbook {
		title = "Its reference"
	}
	return "<aside><strong>" + title + ":</strong> " + strings.Join(links, " · ") + "</aside>"
}

func (s *site) add(p *page) {
	p.anchors = map[string]bool{}
	s.pages = append(s.pages, p)
	s.pageOf[p.source] = p
}

func htmlOf(document string) string {
	if document == "README.md" {
		return "index.html"
	}
	return strings.TrimSuffix(strings.ReplaceAll(document, "README.md", "index.md"), ".md") + ".html"
}

func groupOf(document string) string {
	if group, ok := first[document]; ok {
		return group
	}
	switch path.Dir(document) {
	case "docs":
		return groupGuides
	case "docs/results":
		return groupResults
	}
	if strings.HasPrefix(document, "cookbook/") {
		return groupCookbook
	}
	return ""
}

// packageName is what a package's page is called: its path, the root's by the project's name.
func packageName(dir string) string {
	if dir == "." {
		return "onerow"
	}
	return dir
}

// findPackages returns the folders of packages that users import or run, the root first.
func findPackages(files fs.FS) (dirs []string, err error) {
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			if dir := path.Dir(name); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
			return nil
		}
		if name == "." {
			return nil
		}
		if base := d.Name(); strings.HasPrefix(base, ".") || base == "internal" || base == "testdata" {
			return fs.SkipDir
		}
		if _, err := fs.Stat(files, name+"/go.mod"); err == nil { // a module of its own: not for import
			return fs.SkipDir
		}
		return nil
	})
	slices.Sort(dirs)
	return dirs, err
}

// menu is the pages of a group, in their order.
func (s *site) menu(group string) (list []*page) {
	order := regexp.MustCompile(`^docs/results/README\.md$|^\.$`)
	for _, p := range s.pages {
		if p.group == group {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b *page) int {
		_, af := first[a.source]
		_, bf := first[b.source]
		return compareBool(order.MatchString(b.source), order.MatchString(a.source))*2 + compareBool(bf, af)
	})
	return list
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
