package output

import (
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
)

// Troubled says that a job's last error tells why it is where it is. One that waits without a failure was
// postponed: its table is gone, say, which is no fault of the job's.
func Troubled(j queue.Job) bool {
	switch j.State {
	case queue.Ready, queue.Dead, queue.Leftovers, queue.Held, queue.OnPause:
		return true
	}
	return j.Failures > 0
}

// RowName is "project 42". Text keys are shown without their encoding.
func RowName(j queue.Job) string {
	return Shorten(Printable(j.Resource)+" "+RowKey(j.ResourceID), 48)
}

// RowKey is an encoded key as a person reads it: "42", "101,1993-09-21", "0x00ff".
func RowKey(encoded string) string {
	parts, err := onerow.DecodeKey(encoded)
	if err != nil {
		return Shorten(Printable(encoded), 48)
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = fmt.Sprint(part)
		if raw, ok := part.([]byte); ok {
			texts[i] = fmt.Sprintf("0x%x", raw)
		}
	}
	return Shorten(Printable(strings.Join(texts, ",")), 48)
}

// ActionText is what somebody did to a job or one of its rows: "skip item 7 by ann: OPS-12".
func ActionText(act queue.Action) string {
	text := act.Action
	if act.Table != "" {
		text += " " + RowName(queue.Job{Resource: act.Table, ResourceID: act.Key})
	}
	text += " by " + OrUnknown(act.Actor)
	if act.Reason != "" {
		text += ": " + OneLine(act.Reason)
	}
	return text
}

// OrUnknown is what a call has said of itself, or that it has not.
func OrUnknown(text string) string {
	if text = OneLine(text); text == "" {
		return "unknown (the call did not say)"
	}
	return text
}
