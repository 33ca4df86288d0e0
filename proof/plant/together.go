package main

// Jobs that end in one batch.
var togetherBugs = []bug{
	{"jobs end together although one of them was taken away", "./cascade", "Together", []change{{"cascade/together.go",
		`if err == nil && len(ours) != len(ids) {`, `if err == nil && len(ours) > len(ids) {`}}},
	{"what is below a root that goes with others is not looked at", "./cascade", "Together", []change{{"cascade/internal/work/together.go",
		`b.left[i] = b.left[i] || held[i]`, `b.left[i] = b.left[i] || held[i] && i < 0`}}},
	{"a root that another deletion hides goes with others", "./cascade", "Together", []change{{"cascade/internal/work/together.go",
		`b.left[i] = id.Int64 != b.targets[i].DeletionID`, `b.left[i] = id.Int64 == 0`}}},
	{"a root that nobody hides goes with others", "./cascade", "Together", []change{{"cascade/internal/work/together.go",
		`b.left[i] = t.Node.Managed`, `b.left[i] = t.Node.Managed && i < 0`}}},
	{"a row that is not due any more goes with others", "./cascade", "Together", []change{{"cascade/internal/work/together_due.go",
		`|| !t.Due.IsDue(row.age, t.Due.Cutoff(time.UnixMicro(now)))`, `|| t.Due.IsDue(row.age, t.Due.Cutoff(time.UnixMicro(now))) && i < 0`}}},
	{"retention passes over nobody who has taken a deletion back", "./cascade", "Together", []change{{"cascade/internal/work/together_due.go",
		"` + TakenBack + ` AND a.resource_id IN", "` + TakenBack + ` AND a.id < 0 AND a.resource_id IN"}}},
	{"rows that go together are all the first job's", "./cascade", "Together", []change{{"cascade/internal/work/together_leaves.go",
		`counts[i]++`, `counts[min(i, roots[0])]++`}}},
	{"a batch takes all jobs that wait, whatever it has room for", "./cascade", "Together", []change{{"cascade/together.go",
		`size = cmp.Or(done.fit, size)`, `size = cmp.Or(size, done.fit)`}}},
}
