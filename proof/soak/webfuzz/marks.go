package webfuzz

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
)

// marks are words, one for each who has rows; it is in all texts of these, and in nobody else's.
type marks struct {
	mu  sync.Mutex
	all []string
}

// add makes a mark.
func (m *marks) add(r *rand.Rand, who string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	mark := fmt.Sprintf("zq%s%dx%06x", who, len(m.all), r.IntN(1<<24))
	m.all = append(m.all, mark)
	return mark
}

// foreign is a mark of somebody else's in what somebody gets; nothing is foreign to "".
func (m *marks) foreign(mark string, body []byte) string {
	if mark == "" {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, other := range m.all {
		if other != mark && bytes.Contains(body, []byte(other)) {
			return other
		}
	}
	return ""
}
