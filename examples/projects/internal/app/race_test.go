package app

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// 64 at once, one name in different spellings: one row, one 201, 63 conflicts, each
// of which names the row.
func TestParallelCreates(t *testing.T) {
	f := start(t)
	projects := fmt.Sprintf("/api/users/%d/projects", f.user(t, "team"))
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 64
	spellings := []string{"Email Campaign", "email campaign", "EMAIL  CAMPAIGN", " Ｅmail Campaign ", "eMail\u00a0campaign", "Email\tCampaign", "ＥＭＡＩＬ campaign"}
	const n = 64
	answers := make([]answer, n)
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-begin
			answers[i] = f.send(t, "POST", projects, object("name", spellings[i%len(spellings)]))
		})
	}
	close(begin)
	wg.Wait()
	var id int64
	counts := map[int]int{}
	for _, a := range answers {
		counts[a.status]++
		if a.status == 201 {
			id = a.id("id")
		}
	}
	for _, a := range answers {
		if a.status == 409 && a.problem().ExistingID != id {
			t.Errorf("%s, want %d", a.body, id)
		}
	}
	if counts[201] != 1 || counts[409] != n-1 {
		t.Errorf("%v", counts)
	}
	if rows := f.count(t, "SELECT COUNT(*) FROM project"); rows != 1 {
		t.Errorf("%d rows", rows)
	}
}

// One request, sent by many at once under one key: one row, and all get it.
func TestParallelReplays(t *testing.T) {
	f := start(t)
	projects := fmt.Sprintf("/api/users/%d/projects", f.user(t, "team"))
	const n = 32
	answers := make([]answer, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			answers[i] = f.send(t, "POST", projects, object("name", "Email Campaign"), "Idempotency-Key", "one")
		})
	}
	wg.Wait()
	first := 0
	for _, a := range answers {
		a.want(201)
		if a.id("id") != answers[0].id("id") {
			t.Errorf("%s", a.body)
		}
		if a.header.Get("Idempotency-Replayed") == "" {
			first++
		}
	}
	if first != 1 || f.count(t, "SELECT COUNT(*) FROM project") != 1 {
		t.Errorf("%d were first", first)
	}
}
