package featurefuzz

// expectTriggers adds what triggers have noted and counted: each delete, insert and update once. Before is
// the image in which the root was there.
func (t *trial) expectTriggers(e *expectation, before *image, now, went map[*row]fate, back bool) {
	if t.has[ofLog] {
		e.log = map[place]map[string][2]int{}
		for _, r := range t.tables[t.at[ofLog]].rows {
			p := place{r.table.name, r.number}
			ran := map[string]int{}
			most := map[string]int{}
			add := func(what string, least, n int) { ran[what] += least; most[what] += n }
			switch went[r] {
			case gone:
				add("delete", 1, 1)
				if back && now[r] != gone {
					add("insert", 1, 1)
				}
			case cut:
				add("update", 1, 1)
				if back && now[r] != cut {
					add("update", 1, 1)
				}
			case unsure:
				add("update", 0, 2)
			case maybe:
				add("delete", 0, 1)
				add("insert", 0, 1)
			}
			if t.touches(r.table) {
				add("update", 0, maxRows)
			}
			e.log[p] = map[string][2]int{}
			for _, what := range []string{"delete", "insert", "update"} {
				n := before.log[p][what]
				e.log[p][what] = [2]int{n + ran[what], n + most[what]}
			}
		}
	}
	if t.has[ofCount] {
		e.counted = t.tables[t.at[ofCount]].name
	}
}
