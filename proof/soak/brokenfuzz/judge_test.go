package brokenfuzz

import (
	"testing"

	"github.com/onerow/onerow/proof/soak/fuzz"
)

// TestTokens plants what is a finding, and what is none beside it.
func TestTokens(t *testing.T) {
	one := map[string]int64{"1": 1}
	two := map[string]int64{"1": 2}
	seven := map[string]int64{"1": 7}
	for name, c := range map[string]struct {
		call   call
		tables tables
		broken string // "": nothing is
	}{
		"all is there":            {call{kind: together}, tables{ledger: one, claims: seven, requests: one}, ""},
		"all is there, unknown":   {call{kind: together, outcome: unknown}, tables{ledger: one, claims: seven, requests: one}, ""},
		"nothing is, unknown":     {call{kind: together, outcome: unknown}, tables{}, ""},
		"nothing is, refused":     {call{kind: together, outcome: refused}, tables{}, ""},
		"nothing is there":        {call{kind: together}, tables{}, brokenLost},
		"the claim is missing":    {call{kind: together}, tables{ledger: one, requests: one}, brokenHalf},
		"it was refused":          {call{kind: plain, outcome: refused}, tables{ledger: one}, brokenRefused},
		"unknown, and twice":      {call{kind: plain, outcome: unknown}, tables{ledger: two}, brokenTwice},
		"an effect":               {call{kind: effects}, tables{effect: one, keys: one}, ""},
		"an effect without a key": {call{kind: effects}, tables{effect: one}, brokenHalf},
		"another number":          {call{kind: claimed, id: 6}, tables{claims: seven}, brokenLost},
		"its number":              {call{kind: claimed, id: 7}, tables{claims: seven}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{found: fuzz.NewFindings(1)}
			c.call.token = "1"
			w.book.add(&c.call)
			w.judgeTokens(c.tables)
			if w.found.Any() != (c.broken != "") || c.broken != "" && w.found.Count(c.broken) != 1 {
				t.Errorf("%q", w.found.Report())
			}
		})
	}
}
