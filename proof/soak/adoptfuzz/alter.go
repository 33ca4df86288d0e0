package adoptfuzz

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/proof/soak/fuzz"
)

// alteration is what somebody else does to the table while it is filled, with the way back, if it is one that
// has to be gone.
type alteration struct {
	name     string
	do, undo []string
	against  bool // no backfill begins meanwhile
}

// undone are errors of a way back that had been gone before, or of a way there.
var undone = []uint16{1050, 1060, 1061, 1091, 1054, 1146, 1360}

// alterations are those of a round: at each moment the table is whole again behind the way back.
func (r *round) alterations() []alteration {
	alter := "ALTER TABLE tickets "
	title := func(collation string) string {
		return fmt.Sprintf(alter+"MODIFY COLUMN title VARCHAR(200) CHARACTER SET utf8mb4 COLLATE %s NOT NULL", collation)
	}
	still := ""
	if r.shape.times {
		still = ", updated_at = updated_at"
	}
	all := []alteration{
		{name: "a column that no plan has", against: true, do: []string{alter + "ADD COLUMN mood VARCHAR(9) NULL"}, undo: []string{alter + "DROP COLUMN mood"}},
		{name: "a unique index that no plan has", against: true, do: []string{alter + "ADD UNIQUE KEY one_token (token)"}, undo: []string{alter + "DROP INDEX one_token"}},
		{name: "an index", do: []string{alter + "ADD KEY by_price (price, state)"}, undo: []string{alter + "DROP INDEX by_price"}},
		{name: "a trigger", against: true, do: []string{"CREATE TRIGGER noise BEFORE UPDATE ON tickets FOR EACH ROW SET NEW.price = NEW.price"}, undo: []string{"DROP TRIGGER IF EXISTS noise"}},
		{name: "a wider type", do: []string{alter + "MODIFY COLUMN price BIGINT NOT NULL DEFAULT 9"}, undo: []string{alter + "MODIFY COLUMN price INT NOT NULL DEFAULT 9"}},
		{name: "another collation", do: []string{title("utf8mb4_unicode_520_ci")}, undo: []string{title(r.shape.collation)}},
		{name: "a rebuild", do: []string{alter + "FORCE"}},
		{name: "ids that jump", do: []string{fmt.Sprint(alter, "AUTO_INCREMENT = ", 50_000+r.number*1000)}},
		{name: "a column in another place", do: []string{alter + "MODIFY COLUMN body TEXT CHARACTER SET utf8mb4 NULL FIRST"}, undo: []string{alter + "MODIFY COLUMN body TEXT CHARACTER SET utf8mb4 NULL AFTER price"}},
		{name: "statistics", do: []string{"ANALYZE TABLE tickets", "OPTIMIZE TABLE tickets"}},
		{name: "the name's column is away", do: []string{alter + "RENAME COLUMN title TO caption"}, undo: []string{alter + "RENAME COLUMN caption TO title"}},
		{name: "the table is away", do: []string{"RENAME TABLE tickets TO tickets_away"}, undo: []string{"RENAME TABLE tickets_away TO tickets"}},
		// These drop what the files have made; running the files again makes it.
		{name: "no index next_copy", do: []string{alter + "DROP INDEX next_copy"}},
		{name: "no copy numbers", do: []string{alter + "DROP COLUMN copy_no"}},
		{name: "no archive", do: []string{"DROP TABLE tickets_archive"}},
		{name: "keys of another name", do: []string{"UPDATE tickets SET title_key = CONCAT('zz', id), stem_key = 'zz'" + still + " WHERE id % 7 = 3"}},
		{name: "no keys", do: []string{"UPDATE tickets SET title_key = NULL, copy_no = 7" + still + " WHERE id % 5 = 2"}},
	}
	prio := r.priority()
	drop := []string{alter + "DROP COLUMN priority", "ALTER TABLE tickets_archive DROP COLUMN priority"}
	if r.final == column {
		return append(all, alteration{name: "the other plan's column is away", do: drop[:1]})
	}
	return append(all, alteration{name: "the other plan's column", against: true, do: prio, undo: drop}, alteration{name: "the other plan's column, not in the archive", against: true, do: prio[1:], undo: drop[:1]})
}

// priority adds the column that the version column has, in the archive first.
func (r *round) priority() []string {
	return []string{"ALTER TABLE tickets_archive ADD COLUMN priority INT NOT NULL DEFAULT 3", "ALTER TABLE tickets ADD COLUMN priority INT NOT NULL DEFAULT 3"}
}

// alter sends statements in a session that does not wait long, and may be killed. A statement whose work is
// done already is passed over.
func (r *round) alter(ctx context.Context, statements []string) error {
	for _, statement := range statements {
		_, err := r.others.ExecContext(ctx, statement)
		var refused *mysql.MySQLError
		if err != nil && (!errors.As(err, &refused) || !slices.Contains(undone, refused.Number)) {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// alterer alters the table until ctx ends, one thing after the other, some for a moment and some until the
// end, and leaves nothing that stands against the last plan.
func (r *round) alterer(ctx context.Context, rnd *rand.Rand) {
	sends := context.WithoutCancel(ctx)
	all := r.alterations()
	var back []alteration
	for fuzz.Pause(ctx, 200*time.Millisecond+time.Duration(rnd.Int64N(int64(500*time.Millisecond)))) {
		a := all[rnd.IntN(len(all))]
		if err := r.alter(sends, a.do); err != nil {
			r.tally("alter: " + short(err))
		}
		r.counts.alters.Add(1)
		often := 3
		if a.against {
			often = 12
		}
		if len(a.undo) > 0 && !strings.HasSuffix(a.name, "away") && rnd.IntN(often) == 0 {
			back = append(back, a)
			continue
		}
		fuzz.Pause(ctx, time.Duration(rnd.Int64N(int64(600*time.Millisecond))))
		r.undo(sends, a)
	}
	for _, a := range slices.Backward(back) {
		r.undo(sends, a)
	}
}

func (r *round) undo(ctx context.Context, a alteration) {
	if len(a.undo) > 0 {
		r.until(ctx, "the way back of "+a.name, func() error { return r.alter(ctx, a.undo) })
	}
}

// short is an error without what differs each time.
func short(err error) string { return fmt.Sprintf("%.150s", digits.ReplaceAllString(err.Error(), "N")) }
