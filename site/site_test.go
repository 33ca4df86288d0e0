package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
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

// TestSchedules: each trace of the cookbook is read whole, its steps in their order, and stands on its page.
func TestSchedules(t *testing.T) {
	root := os.DirFS("..")
	traces, err := fs.Glob(root, "cookbook/r*/trace.*.txt")
	if err != nil || len(traces) < 60 {
		t.Fatalf("%d traces, %v", len(traces), err)
	}
	for _, name := range traces {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := readSchedule(string(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		n, sides := 0, map[bool]bool{}
		for _, st := range s.steps {
			if st.number != "" {
				n++
				sides[st.right] = true
				if st.number != fmt.Sprint(n) || st.sql == "" {
					t.Errorf("%s: step %d is %+v", name, n, st)
				}
			}
		}
		if n < 2 || len(sides) < 2 || !strings.HasPrefix(s.end, "A is told: ") {
			t.Errorf("%s: %d steps of %d sessions, and then %q", name, n, len(sides), s.end)
		}
	}
	s, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.render()
	if err != nil {
		t.Fatal(err)
	}
	page := string(files["cookbook/r07_deadlock_on_insert/index.html"])
	for _, want := range []string{`data-engine="MySQL 9"`, `<span class="waits">… waits for A</span>`, `<span class="fails">→ deadlock (1213)</span>`, "schedule.js"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of recipe 7 lacks %s", want)
		}
	}
}

// TestWidths: a table of sentences becomes cards on a phone, one of figures scrolls, and each keeps its figures on
// one line.
func TestWidths(t *testing.T) {
	sentence := strings.Repeat("so it is ", 6)
	figures := "| call | a | b | c | d |\n|---|---|---|---|---|\n| " + sentence + " | 0.24, 0.36 | 1 | 2 | 3 |\n"
	sentences := "| promise | by | not |\n|---|---|---|\n| " + sentence + " | " + sentence + " | no |\n"
	s, err := load(fstest.MapFS{"README.md": {Data: []byte("# One\n\n" + figures + "\n" + sentences)}})
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.render()
	if err != nil {
		t.Fatal(err)
	}
	page := string(files["index.html"])
	scrolls, cards, found := strings.Cut(page, `<div class="wide cards">`)
	if !found {
		t.Fatalf("no table of cards in %s", page)
	}
	for _, want := range []string{`<div class="wide ">`, `<th class="long">call</th>`, `<td class="short" data-head="a">0.24, 0.36</td>`} {
		if !strings.Contains(scrolls, want) {
			t.Errorf("the table of figures lacks %s", want)
		}
	}
	for _, want := range []string{`<th class="long">promise</th>`, `<td data-head="by">`, `<td class="short" data-head="not">no</td>`} {
		if !strings.Contains(cards, want) {
			t.Errorf("the table of sentences lacks %s", want)
		}
	}
}

// TestRelated: a recipe links the reference of what it uses, and is linked there.
func TestRelated(t *testing.T) {
	s, err := load(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.render()
	if err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string]string{
		"cookbook/r14_gapless_numbers/index.html": `href="../../pkg/serial.html"`,
		"pkg/serial.html":                         `href="../cookbook/r14_gapless_numbers/index.html"`,
		"pkg/onerow.html":                         `href="../cookbook/r22_commit_answer_lost/index.html"`,
	} {
		if !strings.Contains(string(files[page]), want) {
			t.Errorf("%s lacks %s", page, want)
		}
	}
}

// TestNoSchedule is its negative control.
func TestNoSchedule(t *testing.T) {
	for _, text := range []string{"", "one line", strings.Repeat("a line without columns, but longer than the first of them\n", 4) + "\n\nend"} {
		if _, err := readSchedule(text); err == nil {
			t.Errorf("%.20q is read as a schedule", text)
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
