package schema

import (
	"errors"
	"strconv"
	"strings"

	"github.com/onerow/onerow/schema/internal/colset"
)

// OnDeleteMark is the action that a row stays, with its reference, and that a DATETIME or TIMESTAMP of it
// becomes the time of the deletion: on_delete: {set: {host_deleted_at: now}}. A row in which the column is
// not NULL is below nothing by that edge any more. The time is the database's, in UTC if it is a DATETIME.
// No foreign key may be on the edge's columns, for it would keep the row above. An index of the edge's
// columns and this one finds the rows, so live.Verify demands it.
func OnDeleteMark(column string) Action {
	if strings.ContainsFunc(column, func(r rune) bool { return r != '_' && r != '$' && !isWord(string(r)) }) {
		column = strconv.Quote(column)
	}
	return Action(markBefore + column + markBehind)
}

const (
	markBefore = "{set: {"
	markBehind = ": now}}"
)

// Mark is the column of [OnDeleteMark]; empty: it is another action.
func (a Action) Mark() string {
	rest, begins := strings.CutPrefix(string(a), markBefore)
	text, ends := strings.CutSuffix(rest, markBehind)
	if !begins || !ends {
		return ""
	}
	if name, err := strconv.Unquote(text); err == nil {
		return name
	}
	return text
}

// Detaches says whether the row stays and is changed, so that it is below the row above no more:
// [OnDeleteDetach] or [OnDeleteMark].
func (a Action) Detaches() bool { return a == OnDeleteDetach || a.Mark() != "" }

var errAction = errors.New("on_delete is delete, detach, keep, or {set: {a_time_of_the_row: now}}, which marks it")

// UnmarshalYAML reads an action as a plan has it.
func (a *Action) UnmarshalYAML(unmarshal func(any) error) error {
	var text string
	err := unmarshal(&text)
	if err == nil {
		*a = Action(text)
		return nil
	}
	var set map[string]map[string]string
	if unmarshal(&set) != nil {
		return err // which says where
	}
	if len(set) != 1 || len(set["set"]) != 1 {
		return errAction
	}
	for column, value := range set["set"] {
		if value != "now" {
			return errAction
		}
		*a = OnDeleteMark(column)
	}
	return nil
}

// marked is the column that the edge marks, or none.
func (e Edge) marked() []string { return colset.Some(e.OnDelete.Mark()) }
