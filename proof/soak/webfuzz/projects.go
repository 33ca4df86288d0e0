package webfuzz

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// tenant is a user of the example projects with what the answers said that the user has.
type tenant struct {
	c        *client
	r        *rand.Rand
	mark     string
	id       int64
	projects map[int64]*project
	keys     map[string]int64 // Idempotency-Keys and what they made
	lost     bool             // an answer was lost while the database was killed: nothing is known any more
	others   *sync.Map        // keys of all users
	exploded *sync.Once       // the picture that takes much memory
	cursors  *sync.Map        // that lists of all users have returned
}

type project struct {
	name     string
	archived bool
	screens  map[string]*screen // by id, as text
}

type screen struct {
	filename string
	archived bool
	size     int64
	content  []byte
	comments []string
}

// rowJSON is what answers of the interface have in common.
type rowJSON struct {
	ID       int64  `json:"id"`
	UserID   int64  `json:"user_id"`
	Name     string `json:"name"`
	State    string `json:"state"`
	Filename string `json:"filename"`
	Size     int64  `json:"size"`
	Body     string `json:"body"`
	URL      string `json:"url"`
	Thumb    string `json:"thumb_url"`
}

func (a answer) row() (row rowJSON) {
	_ = json.Unmarshal(a.body, &row) //nolint:errcheck // what is no row is one without an id
	return row
}

// asJSON makes a request with one field.
func asJSON(method, path, field, value string) request {
	body, err := json.Marshal(map[string]string{field: value})
	if err != nil {
		body = nil // texts are always JSON
	}
	return request{method: method, path: path, body: body, header: http.Header{"Content-Type": {"application/json"}}}
}

func newTenant(ctx context.Context, w *world, to *program, n int) (*tenant, error) {
	r := w.Rand(uint64(100 + n)) //nolint:gosec // small
	t := &tenant{c: w.client(to), r: r, mark: w.marks.add(r, "p"), projects: map[int64]*project{}, keys: map[string]int64{}, others: &w.keys, cursors: &w.cursors, exploded: &w.exploded}
	a := t.c.send(ctx, t.mark, asJSON(http.MethodPost, "/api/users", "name", t.mark+pick(r, scripts[:4])))
	if a.status != http.StatusCreated {
		return nil, fmt.Errorf("soak: no user: %d %s", a.status, a.body)
	}
	t.id = a.row().ID
	return t, nil
}

// path is an address below the user.
func (t *tenant) path(format string, args ...any) string {
	return fmt.Sprintf("/users/%d", t.id) + fmt.Sprintf(format, args...)
}

// step does one thing of what is drawn.
func (t *tenant) step(ctx context.Context) {
	steps := []func(context.Context){t.create, t.create, t.createForm, t.twins, t.rename, t.move, t.remove, t.upload, t.upload, t.uploadForm, t.comment, t.lists, t.strangeIDs, t.crossSite, t.badBody, t.badBody, t.show, t.otherJobs, t.moveScreen, t.explode}
	pick(t.r, steps)(ctx)
}

// create makes a project, perhaps under a key that was used before, by this user or by another one.
func (t *tenant) create(ctx context.Context) {
	q := asJSON(http.MethodPost, "/api"+t.path("/projects"), "name", text(t.r, t.mark))
	key := ""
	switch t.r.IntN(5) {
	case 0:
		key = fmt.Sprintf("%s-%d", t.mark, t.r.IntN(6)) // its own, perhaps used
	case 1:
		t.others.Range(func(k, _ any) bool { key = k.(string); return t.r.IntN(3) > 0 }) //nolint:errcheck,forcetypeassert // strings only
	case 2:
		q.header["Idempotency-Key"] = pick(t.r, [][]string{{""}, {"a", "b"}, {strings.Repeat("k", 256)}, {strings.Repeat("k", 60000)}})
		if a := t.c.send(ctx, t.mark, q); !a.refused() {
			t.c.must(q, a, brokenTaken, http.StatusBadRequest, http.StatusRequestHeaderFieldsTooLarge)
			t.made(a)
		}
		return
	}
	if key != "" {
		q.header["Idempotency-Key"] = []string{key}
	}
	a := t.send(ctx, q)
	made, known := t.keys[key]
	switch {
	case a.status != http.StatusCreated || key == "":
	case known && a.row().ID != made:
		t.c.broken(brokenAnswer, "the key %q made %d, and now %d: %s", key, made, a.row().ID, t.c.curl(q))
	case known != (a.header.Get("Idempotency-Replayed") != ""):
		t.c.broken(brokenAnswer, "the key %q is known: %v, and replayed: %q: %s", key, known, a.header.Get("Idempotency-Replayed"), t.c.curl(q))
	}
	if a.status == http.StatusCreated && !known {
		t.made(a)
		if key != "" {
			t.keys[key] = a.row().ID
			t.others.Store(key, true)
		}
	}
}

// send sends, and forgets everything if the answer is lost.
func (t *tenant) send(ctx context.Context, q request) answer {
	a := t.c.send(ctx, t.mark, q)
	if a.status == 0 || a.status >= http.StatusInternalServerError {
		t.lost = true
	}
	return a
}

// made notes a project that an answer says is made.
func (t *tenant) made(a answer) {
	if row := a.row(); a.status == http.StatusCreated && row.ID > 0 {
		t.projects[row.ID] = &project{name: row.Name, screens: map[string]*screen{}}
	}
}

// twins sends one request many times at once: one of them is done.
func (t *tenant) twins(ctx context.Context) {
	q := asJSON(http.MethodPost, "/api"+t.path("/projects"), "name", fmt.Sprintf("%s twin %d", t.mark, t.r.Int64()))
	keyed := chance(t.r, 2)
	if keyed {
		q.header["Idempotency-Key"] = []string{fmt.Sprint(t.mark, "twin", t.r.Int64())}
	}
	answers := make([]answer, 4)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = t.c.send(ctx, t.mark, q) })
	}
	all.Wait()
	rows, made := map[int64]bool{}, 0
	for _, a := range answers {
		switch {
		case a.status == 0 || a.status >= http.StatusInternalServerError:
			t.lost = true
			return
		case a.status == http.StatusCreated:
			rows[a.row().ID] = true
			if a.header.Get("Idempotency-Replayed") == "" {
				made++
				t.made(a)
			}
		default:
			t.c.must(q, a, brokenAnswer, http.StatusCreated, http.StatusConflict)
		}
	}
	if made != 1 || len(rows) != 1 {
		t.c.broken(brokenAnswer, "%d of 4 at once made %d rows: %s", made, len(rows), t.c.curl(q))
	}
}

// some draws one of the user's projects.
func (t *tenant) some() (int64, *project) {
	all := make([]int64, 0, len(t.projects))
	for id := range t.projects {
		all = append(all, id)
	}
	if len(all) == 0 {
		return 0, nil
	}
	slices.Sort(all)
	id := pick(t.r, all)
	return id, t.projects[id]
}

func (t *tenant) rename(ctx context.Context) {
	id, p := t.some()
	if p == nil {
		return
	}
	name := text(t.r, t.mark)
	if chance(t.r, 2) {
		q := asJSON(http.MethodPatch, fmt.Sprintf("/api/projects/%d", id), "name", name)
		if a := t.send(ctx, q); a.status == http.StatusOK {
			p.name = a.row().Name
		}
		return
	}
	q := form(fmt.Sprintf("/projects/%d/rename", id), url.Values{"name": {name, "a second name"}})
	if a := t.send(ctx, q); a.ok() {
		t.reread(ctx, id, p)
	}
}

// reread asks for a row after a form, which answers with a redirect whatever was done.
func (t *tenant) reread(ctx context.Context, id int64, p *project) {
	q := request{method: http.MethodGet, path: fmt.Sprintf("/api/projects/%d", id)}
	if a := t.send(ctx, q); t.c.must(q, a, brokenAnswer, http.StatusOK) {
		p.name, p.archived = a.row().Name, a.row().State == "archived"
	}
}

// move archives or activates.
func (t *tenant) move(ctx context.Context) {
	id, p := t.some()
	if p == nil {
		return
	}
	verb := pick(t.r, []string{"archive", "activate"})
	q := request{method: http.MethodPost, path: fmt.Sprintf("%s/projects/%d/%s", pick(t.r, []string{"", "/api"}), id, verb)}
	if a := t.send(ctx, q); t.c.must(q, a, brokenRefused, http.StatusOK, http.StatusSeeOther, http.StatusConflict) && a.status != http.StatusConflict {
		t.reread(ctx, id, p)
		if p.archived != (verb == "archive") && !t.lost {
			t.c.broken(brokenAnswer, "the project is archived: %v after %s", p.archived, t.c.curl(q))
		}
	}
}

// remove deletes a project for good, or with a grace period and takes it back.
func (t *tenant) remove(ctx context.Context) {
	id, p := t.some()
	if p == nil {
		return
	}
	grace := pick(t.r, []string{"", "0s", "24h", "10m", "25h", "-1s", "x", "9999999999h", "\x00"})
	q := request{method: http.MethodDelete, path: fmt.Sprintf("/api/projects/%d?grace=%s", id, url.QueryEscape(grace))}
	a := t.send(ctx, q)
	switch {
	case !a.ok():
		return
	case grace == "24h" || grace == "10m":
		q := request{method: http.MethodPost, path: fmt.Sprintf("/api/projects/%d/cancel-delete", id)}
		if a := t.send(ctx, q); t.c.must(q, a, brokenRefused, http.StatusOK) {
			t.reread(ctx, id, p)
		}
	case grace == "" || grace == "0s":
		delete(t.projects, id)
	default:
		t.c.broken(brokenTaken, "%d: %s", a.status, t.c.curl(q))
	}
}

// contains is bytes.Contains for texts that may be long.
func contains(body []byte, text string) bool { return bytes.Contains(body, []byte(text)) }
