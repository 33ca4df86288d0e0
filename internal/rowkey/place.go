package rowkey

import (
	"database/sql"
	"strings"
)

// Place is a place in an index: the literal of each of its columns, [Null] among them. A nil one is before
// the first entry. Only what [Codec.Place] made, or what was checked to look the same, may go into a
// statement.
type Place []string

// Null stands for NULL in a place. An index has it before all values.
const Null = "NULL"

// Place is the place of a row that Select read. c is [Codec.Ordered].
func (c Codec) Place(values []sql.NullString) Place {
	place := make(Place, len(c.parts))
	for i, p := range c.parts {
		place[i] = Null
		if values[i].Valid {
			place[i] = p.literal(values[i].String)
		}
	}
	return place
}

// After is the condition that a row comes behind a place in the order of the columns: it is the same in the
// first ones and greater in the next. The range optimizers understand that, unlike a comparison of rows.
func (c Codec) After(alias string, place Place) string {
	var ways []string
	same := ""
	for i, p := range c.parts {
		name := column(alias, p.name)
		greater, equal := name+" > "+place[i], name+" = "+place[i]
		if place[i] == Null {
			greater, equal = name+" IS NOT NULL", name+" IS NULL"
		}
		ways = append(ways, same+greater)
		same += equal + " AND "
	}
	return "(" + strings.Join(ways, " OR ") + ")"
}
