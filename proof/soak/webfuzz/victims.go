package webfuzz

import (
	"math/rand/v2"
	"slices"
	"sync"
)

// victims are the ids that are everybody's target.
type victims struct {
	mu                   sync.Mutex
	tickets, attachments map[string]int // whose
}

func (v *victims) add(of map[string]int, id string, tenant int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	of[id] = tenant
}

// drop takes back ids that nobody has any more.
func (v *victims) drop(of map[string]int, ids ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, id := range ids {
		delete(of, id)
	}
}

// has says whether somebody still has the id.
func (v *victims) has(of map[string]int, id string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, has := of[id]
	return has
}

// foreign draws an id of another tenant's; "" if there is none.
func (v *victims) foreign(r *rand.Rand, of map[string]int, tenant int) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var all []string
	for id, whose := range of {
		if whose != tenant {
			all = append(all, id)
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return pick(r, all)
}
