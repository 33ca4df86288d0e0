package webfuzz

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// office is an organiser of the tutorial's box office.
type office struct {
	c         *client
	r         *rand.Rand
	mark      string
	organiser int64
	shows     map[int64]*play
	lost      bool
	once      *sync.Once
}

type play struct {
	title, state string
	seats        map[string]int64 // numbers
}

func newOffice(w *world, to *program, n int) *office {
	r := w.Rand(uint64(700 + n)) //nolint:gosec // small
	return &office{c: w.client(to), r: r, mark: w.marks.add(r, "s"), organiser: int64(1000 + n), shows: map[int64]*play{}, once: &w.endlessShow}
}

func (o *office) step(ctx context.Context) {
	pick(o.r, []func(context.Context){o.create, o.create, o.buy, o.buy, o.move, o.remove, o.strange, o.badBody, o.endless})(ctx)
}

func (o *office) send(ctx context.Context, q request) (answer, *play) {
	a := o.c.send(ctx, o.mark, q)
	if a.status == 0 || a.status >= http.StatusInternalServerError {
		o.lost = true
	}
	var in struct {
		ID           int64
		Organiser    int64 `json:"organiser_id"`
		Title, State string
	}
	if err := json.Unmarshal(a.body, &in); err != nil || a.status != http.StatusOK || in.Organiser == 0 {
		return a, nil
	}
	if in.Organiser != o.organiser {
		o.c.broken(brokenStranger, "the show of %d: %s", in.Organiser, o.c.curl(q))
		return a, nil
	}
	p := o.shows[in.ID]
	if p == nil {
		p = &play{seats: map[string]int64{}}
		o.shows[in.ID] = p
	}
	p.title, p.state = in.Title, in.State
	return a, p
}

// create makes a show; three are allowed.
func (o *office) create(ctx context.Context) {
	q := jsonOf(http.MethodPost, "/shows", map[string]any{"organiser_id": o.organiser, "title": text(o.r, o.mark)})
	q.header["Idempotency-Key"] = []string{fmt.Sprint(o.r.Int64())}
	o.send(ctx, q)
	active := 0
	for _, p := range o.shows {
		if p.state == "active" {
			active++
		}
	}
	if active > 3 && !o.lost {
		o.c.broken(brokenTaken, "%d shows, and three are allowed: %s", active, o.c.curl(q))
	}
}

func (o *office) some() (int64, *play) {
	all := make([]int64, 0, len(o.shows))
	for id := range o.shows {
		all = append(all, id)
	}
	if len(all) == 0 {
		return 0, nil
	}
	slices.Sort(all)
	id := pick(o.r, all)
	return id, o.shows[id]
}

// buy buys a seat, several times at once under one key.
func (o *office) buy(ctx context.Context) {
	id, p := o.some()
	if p == nil {
		return
	}
	seat := text(o.r, o.mark)
	seat = strings.ToValidUTF8(seat[:min(len(seat), 250)], "?")
	q := request{method: http.MethodPost, path: fmt.Sprintf("/shows/%d/tickets?seat=%s", id, url.QueryEscape(seat)), header: http.Header{"Idempotency-Key": {fmt.Sprint(o.r.IntN(1 << 30))}}}
	answers := make([]answer, 1+o.r.IntN(3))
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = o.c.send(ctx, o.mark, q) })
	}
	all.Wait()
	for _, a := range answers {
		var in struct {
			Seat   string
			Number int64
			ShowID int64 `json:"show_id"`
		}
		err := json.Unmarshal(a.body, &in)
		switch {
		case a.status == 0 || a.status >= http.StatusInternalServerError:
			o.lost = true
		case a.status != http.StatusOK || err != nil:
		case in.ShowID != id || p.seats[in.Seat] != 0 && p.seats[in.Seat] != in.Number:
			o.c.broken(brokenAnswer, "%+v, and before %d: %s", in, p.seats[in.Seat], o.c.curl(q))
		default:
			p.seats[in.Seat] = in.Number
		}
	}
}

func (o *office) move(ctx context.Context) {
	if id, p := o.some(); p != nil {
		o.send(ctx, request{method: http.MethodPost, path: fmt.Sprintf("/shows/%d/%s", id, pick(o.r, []string{"archive", "activate"}))})
	}
}

func (o *office) remove(ctx context.Context) {
	if id, p := o.some(); p != nil && chance(o.r, 3) {
		if a, _ := o.send(ctx, request{method: http.MethodDelete, path: fmt.Sprintf("/shows/%d", id)}); a.ok() {
			delete(o.shows, id)
		}
	}
}

func (o *office) strange(ctx context.Context) {
	id := pick(o.r, ids)
	q := pick(o.r, []request{{method: http.MethodPost, path: "/shows/" + id + "/archive"}, {method: http.MethodPost, path: "/shows/" + id + "/activate"},
		{method: http.MethodPost, path: "/shows/" + id + "/tickets?seat=a", header: http.Header{"Idempotency-Key": {fmt.Sprint(o.r.Int64())}}}, {method: http.MethodGet, path: "/shows/" + id}})
	if a := o.c.send(ctx, o.mark, q); a.ok() {
		o.c.broken(brokenTaken, "%d: %s", a.status, o.c.curl(q))
	}
}

func (o *office) badBody(ctx context.Context) {
	q := request{method: http.MethodPost, path: "/shows", header: http.Header{"Idempotency-Key": pick(o.r, [][]string{{"a"}, {""}, {"a", "b"}, {strings.Repeat("k", 256)}})}}
	q.body = []byte(pick(o.r, []string{"", "{", "[]", `{"title":1}`, `{"organiser_id":"1"}`, `{"organiser_id":9223372036854775808,"title":"a"}`, strings.Repeat("[", 20_000), `{"organiser_id":1,"title":"` + strings.Repeat("t", 3<<20) + `"}`, `{"organiser_id":1}`,
		`{"organiser_id":1,"title":"\u0000"}`}))
	if a := o.c.send(ctx, o.mark, q); a.ok() {
		o.c.broken(brokenTaken, "%d: %s", a.status, o.c.curl(q))
	}
}

// endless sends a title that does not end.
func (o *office) endless(ctx context.Context) {
	o.once.Do(func() {
		body := &counted{begin: bytes.NewReader([]byte(`{"organiser_id":1,"title":"`)), most: mostSent, fill: 'x'}
		q := request{method: http.MethodPost, path: "/shows", stream: body, header: http.Header{"Idempotency-Key": {"endless"}}}
		_, err := o.c.do(ctx, q)
		if body.n > mostBuffer && errors.Is(err, errEnd) {
			o.c.broken(brokenTaken, "%d MiB and more of a body without an end: %s", body.n>>20, o.c.curl(q))
		}
	})
}

// judgeOffices holds the tables of the tutorial against what was answered.
func (w *world) judgeOffices(ctx context.Context) error {
	errs := []error{}
	for _, o := range w.offices {
		if o.lost {
			w.found.Add(brokenNone, "organiser %d: what was done cannot be judged, for an answer is lost", o.organiser)
			continue
		}
		shows, tickets := map[string]string{}, map[string]string{}
		for id, p := range o.shows {
			shows[fmt.Sprint(id)] = p.state + " " + p.title
			for seat, number := range p.seats {
				tickets[fmt.Sprint(number)] = fmt.Sprintf("%d %s", id, seat)
			}
		}
		got, err := read(ctx, w.dbs["office"], "SELECT id, CONCAT('active ', title) FROM `show` WHERE organiser_id = ? UNION ALL SELECT id, CONCAT('archived ', title) FROM show_archive WHERE organiser_id = ?", o.organiser, o.organiser)
		if errs = append(errs, err); err == nil {
			compare(w.found, fmt.Sprint("tutorial, show of ", o.organiser), shows, got)
		}
		got, err = read(ctx, w.dbs["office"], "SELECT number, CONCAT_WS(' ', show_id, seat) FROM ticket WHERE show_id IN (SELECT id FROM `show` WHERE organiser_id = ? UNION SELECT id FROM show_archive WHERE organiser_id = ?)", o.organiser, o.organiser)
		if errs = append(errs, err); err == nil {
			compare(w.found, fmt.Sprint("tutorial, ticket of ", o.organiser), tickets, got)
		}
	}
	return errors.Join(errs...)
}
