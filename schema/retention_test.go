package schema_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/planfile"
)

// TestWindows: when each is open, by a clock in its zone, also on the days on which that is set.
func TestWindows(t *testing.T) {
	for _, c := range []struct {
		window, zone, at string
		open             bool
		next             string
	}{
		{"Sat 02:00-06:00", "", "2026-11-28T01:59:59Z", false, "2026-11-28T02:00:00Z"},
		{"Sat 02:00-06:00", "", "2026-11-28T02:00:00Z", true, ""},
		{"Sat 02:00-06:00", "", "2026-11-28T05:59:59Z", true, ""},
		{"Sat 02:00-06:00", "", "2026-11-28T06:00:00Z", false, "2026-12-05T02:00:00Z"},
		{"Sat 02:00-06:00", "Europe/Berlin", "2026-11-28T01:00:00Z", true, ""},
		{"Sat 02:00-06:00", "Europe/Berlin", "2026-11-28T05:00:00Z", false, "2026-12-05T01:00:00Z"},
		{"Mon-Fri 22:00-06:00", "", "2026-11-28T05:59:00Z", true, ""},                      // Saturday, of Friday's
		{"Mon-Fri 22:00-06:00", "", "2026-11-28T22:00:00Z", false, "2026-11-30T22:00:00Z"}, // Saturday
		{"Mon-Fri 22:00-06:00", "", "2026-11-30T05:00:00Z", false, "2026-11-30T22:00:00Z"}, // Monday, of Sunday's
		{"daily 02:00-04:00", "", "2026-11-25T03:00:00Z", true, ""},
		{"Sat,Sun 00:00-24:00", "", "2026-11-29T23:59:59Z", true, ""},
		{"Fri-Mon 10:00-11:00", "", "2026-11-30T10:30:00Z", true, ""},
		{"Fri-Mon 10:00-11:00", "", "2026-12-01T10:30:00Z", false, "2026-12-04T10:00:00Z"},
		// 2026-03-29: from 02:00 CET to 03:00 CEST.
		{"daily 02:00-03:00", "Europe/Berlin", "2026-03-29T00:59:00Z", false, "2026-03-30T00:00:00Z"},
		{"daily 02:30-04:00", "Europe/Berlin", "2026-03-29T01:00:00Z", true, ""},
		{"daily 01:00-02:30", "Europe/Berlin", "2026-03-29T01:00:00Z", false, "2026-03-29T23:00:00Z"},
		// 2026-10-25: from 03:00 CEST to 02:00 CET.
		{"daily 02:00-03:00", "Europe/Berlin", "2026-10-25T00:30:00Z", true, ""},
		{"daily 02:00-03:00", "Europe/Berlin", "2026-10-25T01:30:00Z", true, ""},
		{"daily 02:30-03:00", "Europe/Berlin", "2026-10-25T01:00:00Z", false, "2026-10-25T01:30:00Z"},
		{"daily 02:00-03:00", "Europe/Berlin", "2026-10-25T02:00:00Z", false, "2026-10-26T01:00:00Z"},
	} {
		r := schema.Retention{Zone: c.zone, Windows: []string{c.window}}
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		open, next := r.Open(at)
		got := next.UTC().Format(time.RFC3339)
		if c.open {
			c.next = c.at
		}
		if open != c.open || got != c.next {
			t.Errorf("%s %s at %s: %v, then %s; want %v, %s", c.window, c.zone, c.at, open, got, c.open, c.next)
		}
	}
	for _, text := range []string{"", "Sat", "02:00-06:00", "Sat 2:00-6:00", "Sat 02:00", "Sat 02:00-02:00", "Sat 24:00-02:00", "Sat 02:00-24:01", "Sat 02:60-04:00",
		"Sam 02:00-06:00", "Mon- 02:00-06:00", "Mon, 02:00-06:00", "sat 02:00 06:00", "daily 02:00-06:00 UTC", "\x00", "Sat -1:00-02:00", "Sat +1:00-02:00"} {
		plan := schema.Plan{Tables: []schema.Table{{Name: "visit", Key: []string{"id"}, Retention: &schema.Retention{Column: "at", Keep: schema.Age(time.Hour), Windows: []string{text}}}}}
		if err := plan.Check(); err == nil || !strings.Contains(err.Error(), "window") {
			t.Errorf("%q is a window: %v", text, err)
		}
	}
}

// TestLatest: no reading of the clock is taken for older than it may be.
func TestLatest(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	clock, err := schema.Node{Retention: &schema.Retention{Zone: "Europe/Berlin"}}.RetentionClock()
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{
		"2026-07-01T10:00:00Z": "2026-07-01 12:00:00.000000",
		"2026-12-01T10:00:00Z": "2026-12-01 11:00:00.000000",
		"2026-03-29T00:59:00Z": "2026-03-29 01:59:00.000000",
		"2026-03-29T01:00:00Z": "2026-03-29 03:00:00.000000",
		"2026-10-24T23:59:00Z": "2026-10-25 01:59:00.000000",
		"2026-10-25T00:00:00Z": "2026-10-25 01:59:59.999999", // 02:00 comes again
		"2026-10-25T00:59:59Z": "2026-10-25 01:59:59.999999",
		"2026-10-25T01:00:00Z": "2026-10-25 02:00:00.000000",
		"2026-10-25T01:30:00Z": "2026-10-25 02:30:00.000000",
	} {
		moment, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := clock(moment).Format("2006-01-02 15:04:05.000000"); got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
	// No reading that has a later instant is at or before it, minute by minute through both changes.
	for _, begin := range []string{"2026-03-28T22:00:00Z", "2026-10-24T22:00:00Z"} {
		from, err := time.Parse(time.RFC3339, begin)
		if err != nil {
			t.Fatal(err)
		}
		for a := range 300 {
			cut := clock(from.Add(time.Duration(a) * time.Minute)).Format(time.DateTime)
			for b := a + 1; b < 300; b++ {
				if later := from.Add(time.Duration(b) * time.Minute).In(berlin).Format(time.DateTime); later <= cut {
					t.Fatalf("at %d minutes %s is due, which is also %d minutes", a, cut, b)
				}
			}
		}
	}
}

// TestRetentionOfPlans: what a plan says, and what is refused.
func TestRetentionOfPlans(t *testing.T) {
	const table = "tables:\n  - name: visit\n    key: [id]\n    retention: "
	for text, says := range map[string]string{
		"{column: seen_at, keep: 90d}": "",
		`{column: seen_at, keep: 36h, rate: 0.5, windows: ["Sat 02:00-06:00", "daily 22:00-23:00"], zone: Europe/Berlin}`: "",
		"{column: seen_at, keep: 90d, windows: [daily 22:00-23:00]}":                                                      "a mapping does not fit here, it should be text", // without its quotes
		"{column: seen_at}":                                    "keep is 0s",
		"{column: seen_at, keep: 0d}":                          "is no age",
		"{column: seen_at, keep: -3h}":                         "is no age",
		"{column: seen_at, keep: none}":                        "keep is none",
		"{keep: 90d}":                                          "the column: not an SQL identifier",
		"{column: seen_at, keep: 90d, rate: -1}":               "rate is -1",
		"{column: seen_at, keep: 90d, rate: 1e9}":              "rate is 1e+09",
		"{column: seen_at, keep: 90d, rate: .nan}":             "rate is NaN",
		"{column: seen_at, keep: 90d, zone: Mars}":             `no time zone "Mars"`,
		"{column: seen_at, keep: 90d, zone: ../../etc/passwd}": "no time zone",
		"{column: seen_at, keep: 90d, zone: Local}":            "name it",
		"{column: seen_at, keep: 90d, windows: [Sat]}":         "is no window",
		"{column: seen_at, keep: 90d}\n    stays: true":        "its rows stay",
		"{column: seen_at, keep: 90d, every: 1h}":              "unknown field",
	} {
		plan, err := planfile.Parse("plan.yaml", []byte(table+text+"\n"))
		switch {
		case says == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case says == "":
			if got := plan.Tables[0].Retention.String(); !strings.HasPrefix(got, "{column: seen_at, keep: ") {
				t.Errorf("%s is written %s", text, got)
			}
		case err == nil || !errors.Is(err, schema.ErrInvalidPlan) || !strings.Contains(err.Error(), says):
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
	for column, says := range map[string]string{"created_at": "", "archived_at": "", "nonsense": `no column "nonsense"`} {
		plan := schema.Plan{Resources: []schema.Resource{{Name: "project", Archive: "project_archive", Retention: &schema.Retention{Column: column, Keep: schema.Age(time.Hour)}}}}
		if err := plan.Check(); says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v", column, err)
		}
	}
}
