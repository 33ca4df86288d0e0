package page

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
)

// maxListed is how many keys, series or messages a page has.
const maxListed = 100

// keysView lists keys of one kind, those that were expected first before others.
type keysView struct {
	Kinds []kindView
	Keys  []keyView
	Next  string // the link to the next page; "" for none
}

type kindView struct {
	Link, Name string
	This       bool
}

// keyKinds are what can be listed, as by cascade-worker keys list.
var keyKinds = []struct {
	what, name string
	list       keyadmin.ListOptions
}{
	{"overdue", "In progress, overdue", keyadmin.ListOptions{Status: idempotency.InProgress, Waiting: true}},
	{"errored", "Failed, need attention", keyadmin.ListOptions{Status: idempotency.Failed, Waiting: true}},
	{"in-progress", "All in progress", keyadmin.ListOptions{Status: idempotency.InProgress}},
	{"failed", "All failed", keyadmin.ListOptions{Status: idempotency.Failed}},
}

// keyView is a key in words.
type keyView struct {
	Link                    string
	Tenant, Operation, ID   string
	Status, Kind, Note      string
	Since, Age              string
	Holder, Error           string
	Facts                   []fact
	Audit                   []fact
	Release, Complete, Gone string // links to questions; "" for no button
}

func (p *Page) keys(ctx context.Context, r *http.Request) (any, error) {
	q := r.URL.Query()
	v, chosen := keysView{}, keyKinds[0]
	for _, kind := range keyKinds {
		if kind.what == q.Get("what") {
			chosen = kind
		}
	}
	for _, kind := range keyKinds {
		v.Kinds = append(v.Kinds, kindView{"/keys?what=" + kind.what, kind.name, kind.what == chosen.what})
	}
	o := chosen.list
	o.Limit, o.After = maxListed, idempotency.Entry{Key: keyIn(q), Attention: q.Get("attention") != ""}
	if at, err := strconv.ParseInt(q.Get("expected"), 10, 64); err == nil {
		o.After.ExpectedCompletion = time.UnixMicro(at).UTC()
	}
	entries, err := keyadmin.List(ctx, p.db, o)
	for _, e := range entries {
		v.Keys = append(v.Keys, keyWords(e))
	}
	if n := len(entries); n == maxListed {
		last := entries[n-1]
		next := keyQuery(last.Key)
		next.Set("what", chosen.what)
		if !last.ExpectedCompletion.IsZero() {
			next.Set("expected", strconv.FormatInt(last.ExpectedCompletion.UnixMicro(), 10))
		}
		if last.Attention {
			next.Set("attention", "1")
		}
		v.Next = "/keys?" + next.Encode()
	}
	return v, err
}

// keyIn is the key that an address names: its parts are bytes.
func keyIn(q url.Values) idempotency.Key {
	return idempotency.Key{Tenant: q.Get("tenant"), Operation: q.Get("operation"), ID: q.Get("id")}
}

func keyQuery(k idempotency.Key) url.Values {
	return url.Values{"tenant": {k.Tenant}, "operation": {k.Operation}, "id": {k.ID}}
}

func keyName(k idempotency.Key) string {
	name := output.Shorten(output.Printable(k.Operation), 80) + " " + output.Shorten(output.Printable(k.ID), 80)
	if k.Tenant != "" {
		name = output.Shorten(output.Printable(k.Tenant), 80) + " " + name
	}
	return name
}

// oneKey shows a key and what operators did to it.
func (p *Page) oneKey(ctx context.Context, r *http.Request) (any, error) {
	key := keyIn(r.URL.Query())
	if key.Check() != nil {
		return nil, refusal{http.StatusBadRequest, "A key has an operation and an id, of at most " + strconv.Itoa(idempotency.MaxKey) + " bytes each."}
	}
	audit, err := keyadmin.Audit(ctx, p.db, key)
	if err != nil {
		return nil, err
	}
	e, err := keyadmin.Find(ctx, p.db, key)
	v := keyWords(e)
	switch {
	case errors.Is(err, keyadmin.ErrNoKey) && len(audit) == 0:
		return nil, notFound("There is no such key: tenant, operation and id are compared byte by byte.")
	case errors.Is(err, keyadmin.ErrNoKey):
		v = keyWords(idempotency.Entry{Key: key})
		v.Status, v.Note = "purged", "only its audit is left"
	case err != nil:
		return nil, err
	default:
		v.Facts = keyFacts(e)
		if p.mayAct(r) {
			v.buttons(e)
		}
	}
	for _, a := range audit {
		v.Audit = append(v.Audit, fact{moment(a.At), output.Shorten(output.OneLine(a.Action+" by "+a.Actor+": "+a.Reason), 600)})
	}
	return v, nil
}

func keyWords(e idempotency.Entry) keyView {
	v := keyView{Link: "/key?" + keyQuery(e.Key).Encode(), Tenant: output.Printable(e.Key.Tenant), Operation: output.Printable(e.Key.Operation), ID: output.Printable(e.Key.ID),
		Status: map[idempotency.Status]string{idempotency.InProgress: "in progress"}[e.Status], Since: output.Moment(e.Since), Age: span(e.Age),
		Holder: output.Shorten(output.Printable(e.Holder), 60), Error: output.Shorten(output.OneLine(e.Error), 400)}
	v.Status = cmp.Or(v.Status, string(e.Status))
	switch {
	case e.Expired:
		v.Note = "expired"
	case e.Overdue:
		v.Note, v.Kind = "was expected by "+moment(e.ExpectedCompletion), "warn"
	case e.Attention:
		v.Note, v.Kind = "needs attention", "bad"
	}
	return v
}

func keyFacts(e idempotency.Entry) []fact {
	facts := []fact{{"Claimed", moment(e.Since)}, {"By", output.OrUnknown(e.Holder)}, {"Token", strconv.FormatInt(e.Token, 10)}}
	for _, t := range []struct {
		name string
		at   time.Time
	}{{"Expected to end", e.ExpectedCompletion}, {"Leased until", e.LeaseUntil}, {"Ended", e.CompletedAt}, {"Answers until", e.ExpiresAt}} {
		if !t.at.IsZero() {
			facts = append(facts, fact{t.name, moment(t.at)})
		}
	}
	if e.ExpiresAt.IsZero() && !e.CompletedAt.IsZero() {
		facts = append(facts, fact{"Answers until", "for ever"})
	}
	return facts
}

// buttons are what fits a key's state; what decides is the verb's own statement.
func (v *keyView) buttons(e idempotency.Entry) {
	seen := keyQuery(e.Key)
	seen.Set("token", strconv.FormatInt(e.Token, 10))
	seen.Set("status", string(e.Status))
	link := func(verb string) string { return "/key/" + verb + "?" + seen.Encode() }
	if e.Status == idempotency.InProgress || e.Status == idempotency.Failed {
		v.Release, v.Complete = link("release"), link("complete")
	}
	if e.Status != idempotency.InProgress && !e.Expired {
		v.Gone = link("expire")
	}
}
