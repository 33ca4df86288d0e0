package main

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// TestSite makes the site of this checkout: a link or an anchor that leads nowhere fails it.
func TestSite(t *testing.T) {
	s, err := load(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.render()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.html", "docs/TUTORIAL.html", "docs/results/index.html", "pkg/onerow.html", "pkg/repo.html", "docs/demo.png"} {
		if len(files[name]) == 0 {
			t.Errorf("there is no %s", name)
		}
	}
	var index []section
	if err := json.Unmarshal(files[searchIndex], &index); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"repo.Of", "idempotency.Do", "Grants"} {
		found := false
		for _, section := range index {
			found = found || section.Title == want && section.Text != ""
		}
		if !found {
			t.Errorf("a search does not find %q", want)
		}
	}
	for name := range files {
		if strings.Contains(name, "internal") {
			t.Errorf("%s is for nobody", name)
		}
	}
}

// TestBroken is the negative control: each link that leads nowhere is named.
func TestBroken(t *testing.T) {
	sound := fstest.MapFS{
		"README.md":    {Data: []byte("# One\n\n[two](docs/TWO.md#a-heading) and [code](a/doc.go)\n")},
		"docs/TWO.md":  {Data: []byte("# Two\n\n## A heading\n\n[back](../README.md#one) and [a type](../a/doc.go#T)\n")},
		"a/doc.go":     {Data: []byte("// Package a has [T] and [T.F].\npackage a\n\n// T is one.\ntype T struct {\n\tF int\n}\n")},
		"docs/pic.png": {Data: []byte("x")},
	}
	for broken, change := range map[string]func(m fstest.MapFS){
		"":         func(fstest.MapFS) {},
		"#no-such": func(m fstest.MapFS) { m["README.md"] = &fstest.MapFile{Data: []byte("# One\n\n[x](#no-such)\n")} },
		"TWO.html#other": func(m fstest.MapFS) {
			m["README.md"] = &fstest.MapFile{Data: []byte("# One\n\n[x](docs/TWO.md#other)\n")}
		},
		"docs/pic.png": func(m fstest.MapFS) {
			delete(m, "docs/pic.png")
			m["README.md"] = &fstest.MapFile{Data: []byte("# One\n\n![x](docs/pic.png)\n")}
		},
	} {
		m := maps.Clone(sound)
		change(m)
		s, err := load(m)
		if err == nil {
			_, err = s.render()
		}
		switch {
		case broken == "" && err != nil:
			t.Errorf("a sound site: %v", err)
		case broken != "" && (err == nil || !strings.Contains(err.Error(), broken)):
			t.Errorf("it does not name %q: %v", broken, err)
		}
	}
}

// TestFolder: a folder that is not a site's is not replaced.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/mine", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(dir, map[string][]byte{searchIndex: nil}); err == nil {
		t.Error("files of somebody else are deleted")
	}
	if _, err := os.Stat(dir + "/mine"); err != nil {
		t.Error(err)
	}
}
