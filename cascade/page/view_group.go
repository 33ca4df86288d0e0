package page

import (
	"fmt"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
)

// shownOfGroup is how many of a group are listed one by one.
const shownOfGroup = 20

// groupView is what failed in the same way; a single one is a group of one.
type groupView struct {
	Digest string
	Title  string
	State  string
	Kind   string
	Error  string
	When   string // of the newest
	Jobs   []jobView
	Rows   []parkedView
	N      int
	More   int64 // that are not listed here
	Act    bool
}

type parkedView struct {
	ID, Job int64
	Table   string
	Key     string
	When    string
	Exact   string
}

func (p *Page) jobGroups(b *board, all []queue.Job) (list []groupView) {
	for _, group := range groups(all, jobDigest) {
		first := p.job(b, group[0])
		v := groupView{Digest: jobDigest(group[0]), N: len(group), State: first.State, Kind: first.Kind, Error: first.Error, When: first.When, Act: p.mayAct(),
			Title: fmt.Sprintf("%s of %s", output.Plural(len(group), "job"), output.Printable(group[0].Resource))}
		for _, j := range group[:min(len(group), shownOfGroup)] {
			v.Jobs = append(v.Jobs, p.job(b, j))
		}
		v.More = int64(len(group) - len(v.Jobs))
		list = append(list, v)
	}
	return list
}

func (p *Page) rowGroups(b *board, all []queue.Parked) (list []groupView) {
	for _, group := range groups(all, rowDigest) {
		v := groupView{Digest: rowDigest(group[0]), N: len(group), Kind: "warn", Error: output.Shorten(output.OneLine(group[0].Error), 400), When: "parked " + ago(b.At, group[0].ParkedAt), Act: p.mayAct(),
			Title: fmt.Sprintf("%s of %s", output.Plural(len(group), "row"), output.Printable(group[0].Table))}
		for _, r := range group[:min(len(group), shownOfGroup)] {
			v.Rows = append(v.Rows, parkedView{ID: r.ID, Job: r.JobID, Table: output.Printable(r.Table), Key: output.RowKey(r.Key), When: "parked " + ago(b.At, r.ParkedAt), Exact: output.Moment(r.ParkedAt)})
		}
		v.More = int64(len(group) - len(v.Rows))
		list = append(list, v)
	}
	return list
}
