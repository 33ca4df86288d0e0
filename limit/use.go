package limit

import (
	"context"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/internal/recount"
	"github.com/onerow/onerow/schema"
)

// text is a statement that says what there is of an owner, and how often it has the owner's values.
type text struct {
	query  string
	owners int
}

// texts are the statements that depend on the plan: what counts; the same by current reads; and only what
// does not show among the active rows.
type texts struct{ used, usedCurrent, kept text }

// textsFor: each part reads a range of an index that begins with the owner, a sum the rows too; the archive's
// begins with owner and deletion_id, so rows that are merely archived are passed over.
func textsFor(res schema.Resource, l schema.Limit, types []keytype.Type) texts {
	what := "COUNT(*)"
	if l.Sum != "" { // at most, so that no sum of them is too large for a BIGINT
		what = fmt.Sprintf("LEAST(COALESCE(SUM(GREATEST(%s, 0)), 0), %d)", ident.Quote(l.Sum), MaxAmount)
	}
	var own []string
	for i, column := range l.Owners {
		column = ident.Quote(column)
		own = append(own, column+" = ?")
		if types[i].Class == keytype.Text { // a collation may take other spellings for the same, whose room is another
			if types[i].Fixed { // a sql_mode fills it up with spaces
				column = "RTRIM(" + column + ")"
			}
			own = append(own, "CAST(CONVERT("+column+" USING utf8mb4) AS BINARY) = ?")
		}
	}
	owner := strings.Join(own, " AND ")
	active := "(SELECT " + what + " FROM " + ident.Quote(res.Active) + " WHERE " + owner + "{lock})"
	hidden, archives := "0", 0
	if res.Archive != "" {
		hidden, archives = "(SELECT "+what+" FROM "+ident.Quote(res.Archive)+" WHERE "+owner+" AND deletion_id IS NOT NULL AND deleted_from = 'active'{lock})", 1
	}
	reserved := "(SELECT COALESCE(SUM(amount), 0) FROM onerow_reservation WHERE name = ? AND owner = ?{lock})"
	list := func(lock string, owners int, parts ...string) text {
		return text{strings.ReplaceAll("SELECT "+strings.Join(parts, ", "), "{lock}", lock), owners}
	}
	return texts{
		used: list("", 1+archives, reserved, "0", active, hidden),
		// In the order in which rows may move without the room: what was seen is locked, and hidden rows are
		// looked at again, for one that was active may have become hidden.
		usedCurrent: list(" LOCK IN SHARE MODE", 1+2*archives, reserved, hidden, active, hidden),
		kept:        list("", archives, reserved, "0", "0", hidden),
	}
}

// use is what there is of an owner: active rows, rows that a deletion hides, reservations.
type use struct{ active, hidden, reserved int64 }

func (u use) total() int64 { return u.active + u.hidden + u.reserved }

func (r *Rule) read(ctx context.Context, tx *onerow.Tx, t text, o recount.Owner) (u use, err error) {
	args := []any{r.name, []byte(o.Key)}
	for range t.owners {
		for _, value := range o.Values {
			args = append(args, value)
			if text, isText := value.(string); isText {
				args = append(args, []byte(text))
			}
		}
	}
	var before int64
	err = onerow.QueryRow(ctx, tx, t.query, args, &u.reserved, &before, &u.active, &u.hidden)
	return u, err
}
