package schema_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/schema"
)

// TestAge: days, hours, none, and nothing that could be meant otherwise.
func TestAge(t *testing.T) {
	for text, want := range map[string]time.Duration{"30d": 720 * time.Hour, "1d": 24 * time.Hour, "36h": 36 * time.Hour, "90m": 90 * time.Minute, "none": -1} {
		var a schema.Age
		if err := a.UnmarshalText([]byte(text)); err != nil || time.Duration(a) != want {
			t.Errorf("%s is %v, %v", text, time.Duration(a), err)
		}
		var again schema.Age
		if err := again.UnmarshalText([]byte(a.String())); err != nil || again != a {
			t.Errorf("%s is printed as %s", text, a)
		}
	}
	for _, text := range []string{"", "0d", "-1d", "0s", "-3h", "30", "1.5d", "d", "99999999d", "30 days", "never"} {
		if err := new(schema.Age).UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), "30d") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestNoTrash: a resource and a table without a trash have none in a plan with one.
func TestNoTrash(t *testing.T) {
	plan := schema.Plan{Trash: schema.Age(time.Hour), Resources: []schema.Resource{{Name: "kept"}, {Name: "gone", Trash: schema.NoTrash}},
		Tables: []schema.Table{{Name: "kept too", Key: []string{"id"}}, {Name: "gone too", Key: []string{"id"}, Trash: schema.NoTrash}}}
	if got := plan.Kept(); !slices.Equal(got, []string{"kept", "kept too"}) {
		t.Errorf("%q", got)
	}
}
