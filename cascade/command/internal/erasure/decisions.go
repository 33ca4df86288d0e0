package erasure

import (
	"slices"

	"github.com/onerow/onerow/schema"
)

// decision is what a plan says of one reference, or of a column that it spares.
type decision struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
	Of      string   `json:"refers_to,omitempty"`
	Rows    string   `json:"its_rows"`
	// Went and Left are, in a certificate, how many of its rows the job has deleted or detached, and how many
	// can still be reached from the row. One that has lost its row above is the command orphans' to find.
	Went int64 `json:"went"`
	Left int64 `json:"left"`

	action schema.Action // "": spared
}

// decisions are the plan's edges to a resource and to what goes with it, from above, and what it spares.
func decisions(plan schema.Plan, of string) (list []decision) {
	nodes := plan.Nodes()
	goes := []string{of}
	for i := 0; i < len(goes); i++ {
		for _, n := range nodes {
			for _, e := range n.Parents {
				if e.Table != goes[i] {
					continue
				}
				d := decision{Table: n.Name, Columns: e.Columns, Of: e.Table, action: e.OnDelete}
				switch e.OnDelete {
				case schema.OnDeleteDetach:
					d.Rows = "stay, without the reference"
				case schema.OnDeleteKeep:
					d.Rows = "stay as they are"
				default:
					d.action, d.Rows = schema.OnDeleteDelete, "are deleted"
					if n.Trash > 0 {
						d.Rows += ", and kept in the trash for " + n.Trash.String()
					}
					if !slices.Contains(goes, n.Name) {
						goes = append(goes, n.Name)
					}
				}
				list = append(list, d)
			}
		}
	}
	for _, s := range plan.Spared {
		list = append(list, decision{Table: s.Table, Columns: []string{s.Column}, Rows: "stay as they are: " + s.Because})
	}
	return list
}
