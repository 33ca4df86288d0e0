package oscfuzz

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/schema/live"
)

// The tools. ghostTriggers and ghostCopy end as gh-ost does; the first follows the writers by triggers, the
// second catches up under the lock, where gh-ost reads the binary log.
const (
	ptTool        = "pt"
	ghostTriggers = "triggers"
	ghostCopy     = "copy"
)

var tools = []string{ptTool, ghostTriggers, ghostCopy}

// extra begins the name of each column that is added; extraType has a default, as the operators are told.
const (
	extra     = "x"
	extraType = "INT NOT NULL DEFAULT 7"
)

// changer alters families of tables, one after another.
type changer struct {
	*world
	r     *rand.Rand
	staff *staff
	n     int // changes that were begun
}

// run alters until ctx ends. What was begun is completed.
func (d *changer) run(ctx context.Context) error {
	whole := context.WithoutCancel(ctx)
	for fuzz.Pause(ctx, time.Duration(d.r.IntN(1500))*time.Millisecond) {
		if err := d.change(whole); err != nil {
			return err
		}
	}
	return nil
}

// alteration draws what is done to all tables of a family, and notes it for the plan.
func (d *changer) alteration(name string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n++
	columns := d.columns[name]
	switch n := d.r.IntN(4); {
	case n == 0:
		return "ENGINE=InnoDB"
	case n == 1 && len(columns) > 0:
		d.columns[name] = columns[1:]
		return "DROP COLUMN " + columns[0]
	default:
		column := fmt.Sprint(extra, d.n)
		d.columns[name] = append(columns[:len(columns):len(columns)], column)
		return "ADD COLUMN " + column + " " + extraType
	}
}

// change makes one change, as the operators are told, or without the pause.
func (d *changer) change(ctx context.Context) (err error) {
	families := d.shop.families()
	i := d.r.IntN(len(families))
	tables, name := families[i], d.shop.plan.Nodes()[i].Name
	alter := d.alteration(name)
	chosen := strings.Split(d.only, ",")
	tool := chosen[d.r.IntN(len(chosen))]
	if d.r.IntN(2) == 0 {
		d.r.Shuffle(len(tables), func(i, j int) { tables[i], tables[j] = tables[j], tables[i] })
	}
	paused := d.r.IntN(3) == 0
	d.under.Store(true)
	if paused {
		err = admin.Pause(ctx, d.db, "", alter)
	}
	for _, table := range tables {
		if err == nil {
			d.now.Store(fmt.Sprintf("%s of %s, by %s, paused: %t", alter, table, tool, paused))
			err = d.alter(ctx, tool, table, alter)
		}
	}
	if err != nil {
		return fmt.Errorf("soak: %v: %w", d.now.Load(), err)
	}
	d.ended.Store(time.Now().UnixNano())
	d.under.Store(false)
	d.now.Store("nothing")
	d.count("change", nil)
	if err := errors.Join(d.verify(ctx), d.retryDead(ctx)); err != nil {
		return err
	}
	if paused || d.r.IntN(3) == 0 {
		d.staff.again(ctx)
	}
	if paused {
		err = admin.Resume(ctx, d.db, "")
	}
	return err //nolint:wrapcheck // it says all
}

// alter alters one table: with tries that end before, and what these leave.
func (d *changer) alter(ctx context.Context, tool, table, alter string) error {
	if tool != ptTool {
		return d.ghost(ctx, table, alter, tool == ghostTriggers)
	}
	if d.r.IntN(3) == 0 {
		if err := d.killed(ctx, table, alter); err != nil {
			return err
		}
	}
	return d.pt(ctx, table, alter)
}

// verify holds the tables against the plan with the new columns. The keys that a backfill fills may be NULL.
func (d *changer) verify(ctx context.Context) error {
	differences, err := d.differences(ctx)
	if err != nil {
		return err
	}
	for _, x := range differences {
		if strings.Contains(x.Problem, "AUTO_INCREMENT") { // they are told to mend it
			d.count("counter set back", nil)
			if err := execAll(ctx, d.admin, x.SQL); err != nil {
				return err
			}
		} else {
			d.found.Add(brokenVerify, "%s", x)
		}
	}
	return nil
}

// differences are those that verify tells, but for the keys.
func (w *world) differences(ctx context.Context) ([]live.Difference, error) {
	var told *live.VerifyError
	err := live.Verify(ctx, w.db, w.planNow())
	if err == nil {
		return nil, nil
	}
	if !errors.As(err, &told) {
		return nil, fmt.Errorf("soak: %w", err)
	}
	return slices.DeleteFunc(told.Differences, func(x live.Difference) bool { return slices.Contains(keyColumns, x.Column) }), nil
}

// seen says whether verify tells of the triggers of a table, which run with the toolkit's writes. Of a trash
// table's it need not.
func (d *changer) seen(ctx context.Context, table string) error {
	if slices.ContainsFunc(d.shop.plan.Kept(), func(t string) bool { return ident.TrashTable(t) == table }) {
		return nil
	}
	differences, err := d.differences(ctx)
	if err == nil && !slices.ContainsFunc(differences, func(x live.Difference) bool { return strings.Contains(x.Problem, "trigger") }) {
		d.found.Add(brokenUntold, "%s has triggers: %v", table, differences)
	}
	return err
}
