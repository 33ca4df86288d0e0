package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"slices"
	"strings"
)

const searchIndex = "search.json"

var (
	//go:embed page.html
	pageText string
	//go:embed style.css
	style []byte
	//go:embed icon.svg
	icon []byte
	//go:embed search.js
	search []byte
	//go:embed schedule.js
	stepper []byte
)

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// render returns the files of the site. Its error names all links that lead nowhere.
func (s *site) render() (map[string][]byte, error) {
	for _, p := range s.pages {
		var err error
		if strings.HasSuffix(p.source, ".md") {
			if err = s.document(p); err == nil {
				err = s.stepped(p)
			}
		} else {
			err = s.reference(p)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.source, err)
		}
	}
	for _, p := range s.pages { // each has its title by now
		p.body += p.related()
	}
	files := map[string][]byte{"style.css": style, "icon.svg": icon, "search.js": search, "schedule.js": stepper}
	var sections []section
	for _, p := range s.pages {
		var out bytes.Buffer
		if err := pageTemplate.Execute(&out, s.view(p)); err != nil {
			return nil, err
		}
		files[p.path] = out.Bytes()
		for _, found := range p.sections {
			found.Page, found.URL = p.title, p.path
			if found.anchor != "" {
				found.URL += "#" + found.anchor
			}
			found.Text = strings.Join(strings.Fields(found.Text), " ")
			sections = append(sections, found)
		}
	}
	index, err := json.Marshal(sections)
	if err != nil {
		return nil, err
	}
	files[searchIndex] = index
	for _, pattern := range []string{"docs/*.png", "docs/*.svg", "cookbook/r*/*.svg"} {
		images, err := fs.Glob(s.files, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range images {
			if files[name], err = fs.ReadFile(s.files, name); err != nil {
				return nil, err
			}
		}
	}
	broken := check(files)
	slices.Sort(broken)
	if len(broken) > 0 {
		return nil, errors.New(strings.Join(broken, "\n"))
	}
	return files, nil
}

type entry struct {
	Title, URL string
	Here       bool
}

type view struct {
	Title, Root string
	Body        template.HTML
	Steps       bool // the page has schedules
	Menu        []struct {
		Group string
		Open  bool
		Pages []entry
	}
}

func (s *site) view(p *page) view {
	v := view{Title: p.title, Root: relative(p.path, ""), Steps: strings.Contains(p.body, `class="schedules"`), Body: template.HTML(p.body)} //nolint:gosec // made of this project's files
	for _, group := range []string{groupStart, groupGuides, groupCookbook, groupTrust, groupReference, groupResults} {
		item := struct {
			Group string
			Open  bool
			Pages []entry
		}{Group: group, Open: group == groupStart || group == groupGuides || group == p.group}
		for _, other := range s.menu(group) {
			item.Pages = append(item.Pages, entry{other.title, relative(p.path, other.path), other == p})
		}
		v.Menu = append(v.Menu, item)
	}
	return v
}
