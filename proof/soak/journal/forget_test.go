package journal_test

import (
	"testing"
	"time"

	"github.com/onerow/onerow/proof/soak/journal"
)

// TestForget: an answer that only told of another's work, about when the server was killed, is unknown. What
// a call has committed itself, and what was told long before, counts.
func TestForget(t *testing.T) {
	kill := time.Unix(1000, 0)
	at := func(d time.Duration) int64 { return kill.Add(d).UnixNano() }
	for name, c := range map[string]struct {
		entry journal.Entry
		want  journal.Result
	}{
		"replayed just before":    {journal.Entry{Op: journal.Do, End: at(-time.Millisecond)}, journal.Unknown},
		"answered as it died":     {journal.Entry{Op: journal.Create, End: at(time.Millisecond)}, journal.Unknown},
		"a stored result":         {journal.Entry{Op: journal.Begin, End: at(-time.Millisecond)}, journal.Unknown},
		"replayed long before":    {journal.Entry{Op: journal.Do, End: at(-time.Minute)}, journal.OK},
		"replayed after":          {journal.Entry{Op: journal.Do, End: at(time.Minute)}, journal.OK},
		"committed just before":   {journal.Entry{Op: journal.Do, Changed: true, End: at(-time.Millisecond)}, journal.OK},
		"claimed just before":     {journal.Entry{Op: journal.Begin, Number: 7, End: at(-time.Millisecond)}, journal.OK},
		"completed just before":   {journal.Entry{Op: journal.Complete, End: at(-time.Millisecond)}, journal.OK},
		"a limit set just before": {journal.Entry{Op: journal.SetLimit, End: at(-time.Millisecond)}, journal.OK},
	} {
		c.entry.Result = journal.OK
		entries := []journal.Entry{c.entry}
		got := journal.Forget(entries, []time.Time{kill.Add(-time.Hour), kill})[0]
		if got.Result != c.want || got.Result == journal.Unknown && got.End != journal.Never {
			t.Errorf("%s: %+v", name, got)
		}
		if entries[0].Result != journal.OK {
			t.Errorf("%s: the journal itself was changed", name)
		}
	}
}
