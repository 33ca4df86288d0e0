package main

import "fmt"

// report prints both tables, as docs/GUARANTEES.md has them.
func report(results []result) {
	fmt.Println("\n| schema | tables | foreign keys | rows | roots deleted | rows deleted | rows detached | differences after deletion | after restoring | seconds |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range results {
		if r.deletes {
			fmt.Printf("| %s | %d | %d | %d | %d | %d | %d | %d | %d | %.0f |\n", r.name, r.tables, r.keys, r.rows,
				r.sum.roots, r.sum.deleted, r.sum.detached, r.sum.afterDeletion, r.sum.afterRestoring, r.took.Seconds())
		}
	}
	fmt.Println("\n| schema | references | recall, by name | precision, by name | recall, with rows | precision, with rows |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, r := range results {
		fmt.Printf("| %s | %d | %.2f | %.2f | %.2f | %.2f |\n", r.name, r.byName.declared,
			r.byName.recall(), r.byName.precision(), r.byNameAndRow.recall(), r.byNameAndRow.precision())
	}
}

// list says what was missed, and what was proposed that is no reference.
func (q quality) list(of string) {
	for _, ref := range q.missed {
		fmt.Printf("%s: missed: %s\n", of, ref)
	}
	for _, ref := range q.wrong {
		fmt.Printf("%s: wrong: %s\n", of, ref)
	}
}
