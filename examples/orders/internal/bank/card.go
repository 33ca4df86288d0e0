package bank

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// The cards.
const (
	OK       = "ok"       // charged
	Declined = "declined" // 402, not charged
	Held     = "held"     // charged when [Bank.Let] says so, or after Config.Hold
	Late     = "late"     // charged; the answer comes when nobody waits for it any more, as a notice
	Cut      = "cut"      // the first request: charged, and the connection is cut
	Lost     = "lost"     // the first request: the connection is cut, not charged
	Fails    = "fails"    // the first request: 500, not charged
	Any      = "any"      // one of these
)

// Cards are the cards that the bank takes.
func Cards() []string { return []string{OK, Declined, Held, Late, Cut, Lost, Fails, Any} }

// mix is what Any draws from: half of it goes well.
var mix = [...]string{OK, OK, OK, OK, OK, Declined, Late, Cut, Lost, Fails}

// draw chooses for a reference: the same in every run with that seed.
func draw(seed int64, reference string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s", seed, reference))
	return mix[binary.BigEndian.Uint64(sum[:8])%uint64(len(mix))]
}

// behaviour is what the bank does with this request, the nth of its reference.
func (b *Bank) behaviour(card, reference string) string {
	if card == Any {
		card = draw(b.cfg.Seed, reference)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked[reference]++
	if b.asked[reference] > 1 && slices.Contains([]string{Cut, Lost, Fails}, card) {
		return OK
	}
	return card
}
