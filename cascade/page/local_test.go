package page

import (
	"slices"
	"testing"

	"github.com/onerow/onerow/schema"
)

// TestLocalPath: the form sends nobody away. To a browser \\ is a /, and it drops tabs and ends of lines.
func TestLocalPath(t *testing.T) {
	for to, want := range map[string]string{"": "/", "/": "/", "/jobs/1/undo": "/jobs/1/undo", "/a?b=c": "/a?b=c", "jobs": "/", "//evil.example": "/",
		`/\evil.example`: "/", `\\evil.example`: "/", `\/evil.example`: "/", "/\t/evil.example": "/", "\t//evil.example": "/", "/\r\n/evil.example": "/",
		"https://evil.example": "/", "javascript:alert(1)": "/"} {
		if got := localPath(to); got != want {
			t.Errorf("%q: %q, want %q", to, got, want)
		}
	}
}

// TestKeptTables: those that others hang below, or that can be reached in two ways.
func TestKeptTables(t *testing.T) {
	plan := schema.Plan{Resources: []schema.Resource{
		{Name: "project", Archive: "project_archive"},
		{Name: "screen", Archive: "screen_archive", Parent: schema.Parent{Resource: "project", Column: "project_id"}},
		{Name: "comment", Parent: schema.Parent{Resource: "screen", Column: "screen_id"}},
	}}
	if got := keptTables(plan); !slices.Equal(got, []string{"project", "project_archive", "screen", "screen_archive"}) {
		t.Errorf("%q", got)
	}
}
