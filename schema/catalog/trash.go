package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
)

// TrashDDL returns a CREATE TABLE statement for each trash table that the plan asks for and the database does
// not have. A trash table has the columns of its table, in their exact types, and none of its constraints, so
// only the catalog knows what it is made of. A row that is as wide as a row can be has no room for the trash
// table's own three columns: the server refuses that with 1118. Errors: [schema.ErrInvalidPlan], where a
// table or its key is missing, or where no server would take the trash tables; it names all of these.
func (c *Catalog) TrashDDL(p schema.Plan) ([]string, error) {
	var all []string
	var refused []error
	nodes := p.Nodes()
	for _, n := range nodes {
		if n.Trash <= 0 {
			continue
		}
		for _, name := range n.Tables {
			if c.found.Table(ident.TrashTable(name)) != nil {
				continue
			}
			have := c.found.Table(name)
			if have == nil || len(have.Primary()) == 0 {
				return nil, fmt.Errorf("%w: trash of %q: there is no such table, or it has no primary key", schema.ErrInvalidPlan, name)
			}
			kept := have.Trashed(nodes, n)
			if problem := have.TrashProblem(kept); problem != "" {
				refused = append(refused, trashError(name, problem))
			}
			all = append(all, have.TrashDDL(kept))
		}
	}
	if len(refused) > 0 {
		return nil, errors.Join(refused...)
	}
	return all, nil
}

func trashError(table, problem string) error {
	return fmt.Errorf("%w: deleted rows of %q cannot be kept: %s; %s", schema.ErrInvalidPlan, table, problem, dict.TrashAdvice(table))
}

// TrashColumns returns the columns of a node's table that its trash table keeps, and those of them that are
// written when a row comes back, for the others are computed. Or it says why the trash table cannot keep
// them, or bring them back: a trigger that runs with an INSERT is not among those that somebody has accepted.
func (c *Catalog) TrashColumns(nodes []schema.Node, n schema.Node, table string) (kept, written []string, err error) {
	have, trash := c.found.Table(table), c.found.Table(ident.TrashTable(table))
	if have == nil {
		return nil, nil, fmt.Errorf("%w: there is no table %q, or the user has no right on it", schema.ErrInvalidPlan, table)
	}
	columns := have.Trashed(nodes, n)
	switch problem := have.TrashProblem(columns); {
	case trash == nil && problem != "":
		return nil, nil, trashError(table, problem)
	case trash == nil:
		return nil, nil, fmt.Errorf("%w: deleted rows of %q are to be kept, and there is no table %q; cascade-worker ddl --trash prints it", schema.ErrInvalidPlan, table, ident.TrashTable(table))
	}
	for _, f := range columns {
		if problem := trash.TrashColumnProblem(f); problem != "" {
			return nil, nil, fmt.Errorf("%w: deleted rows of %q are to be kept in %q, and %s; see cascade-worker verify", schema.ErrInvalidPlan, table, trash.Name, problem)
		}
		if kept = append(kept, f.Name); !f.Computed() {
			written = append(written, f.Name)
		}
	}
	want := append([]string{ident.ColTrashJob, ident.ColTrashStep}, have.Primary()...)
	if !slices.Equal(trash.Primary(), colset.Lower(want)) {
		return nil, nil, fmt.Errorf("%w: the primary key of %q is (%s), it should be (%s)", schema.ErrInvalidPlan, trash.Name,
			strings.Join(trash.Primary(), ", "), strings.Join(want, ", "))
	}
	if trigger := c.found.InsertTrigger(table, n.Triggers); trigger != "" {
		return nil, nil, fmt.Errorf("%w: the trigger %q would run again with each row of %q that comes back; accept it in the plan's triggers, or say trash: none",
			schema.ErrInvalidPlan, trigger, table)
	}
	return kept, written, nil
}
