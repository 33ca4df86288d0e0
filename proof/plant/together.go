package main

// Jobs that end in one batch.
var togetherBugs = []bug{
	{"jobs end together although one of them was taken away", "./cascade", "Together", []change{{"cascade/bundle.go",
		`if err == nil && len(stillClaimed) != len(ids) {`, `if err == nil && len(stillClaimed) > len(ids) {`}}},
	{"what is below a root that goes with others is not looked at", "./cascade", "Together", []change{{"cascade/internal/work/roots.go",
		`e.roots[i].keepForLater, out.held = true, true`, `e.roots[i].keepForLater, out.held = !e.bundled, true`}}},
	{"a root that another deletion hides goes with others", "./cascade", "Together", []change{{"cascade/internal/work/roots.go",
		`case r.isOthers(r.locked) || v.Asset`, `case v.Asset`}}},
	{"a root that nobody hides goes with others", "./cascade", "Together", []change{{"cascade/internal/work/roots.go",
		`!r.Due && e.bundled:`, `!r.Due && e.bundled && i < 0:`}}},
	{"a row that is not due any more goes with others", "./cascade", "Together", []change{{"cascade/internal/work/bundle_due.go",
		`|| !due.IsDue(r.age.began, due.Cutoff(at))`, `|| due.IsDue(r.age.began, due.Cutoff(at)) && now < 0`}}},
	{"retention passes over nobody who has taken a deletion back", "./cascade", "Together", []change{{"cascade/internal/work/bundle_due.go",
		"` + TakenBack + ` AND a.resource_id IN", "` + TakenBack + ` AND a.id < 0 AND a.resource_id IN"}}},
	{"rows that go together are all the first job's", "./cascade", "Together", []change{{"cascade/internal/work/leaves_by_root.go",
		`counts[i]++`, `counts[min(i, roots[0])]++`}}},
	{"a batch takes all jobs that wait, whatever it has room for", "./cascade", "Together", []change{{"cascade/bundle.go",
		`size = cmp.Or(b.fit, size)`, `size = cmp.Or(size, b.fit)`}}},
}
