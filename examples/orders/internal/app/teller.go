package app

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/onerow/onerow/examples/internal/connect"
	"github.com/onerow/onerow/examples/orders/internal/bank"
	"github.com/onerow/onerow/examples/orders/internal/shop"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
)

// World is the running example.
type World struct {
	DB   *sql.DB
	Keys *idempotency.Keys
	Shop *shop.Shop
	Bank *bank.Bank
	// URL is the shop's.
	URL string
	// Out gets the stories.
	Out io.Writer
}

// ErrStory means that a step had another outcome than it must have.
var ErrStory = errors.New("the story went wrong")

// Tell tells the two stories of the example, step by step, with a real client, and checks each step: a story
// that goes otherwise than it says is an error.
func Tell(ctx context.Context, w World) error {
	t := &teller{World: w, ctx: ctx}
	for _, part := range []func(){t.answers, t.inFlight, t.notReached, t.unclear, t.late, t.oneCommit, t.keyTable, t.validation} {
		if part(); t.err != nil {
			break
		}
	}
	return t.err
}

// teller tells until something goes wrong: after the first error it sends and prints nothing more, so the
// stories need not look at each one.
type teller struct {
	World
	ctx  context.Context
	err  error
	cart int64 // made by oneCommit, validated by validation
}

// check notes an error.
func (t *teller) check(err error) {
	if t.err == nil {
		t.err = err
	}
}

// must notes a story that went wrong.
func (t *teller) must(ok bool, format string, args ...any) {
	if !ok {
		t.check(fmt.Errorf("%w: %s", ErrStory, fmt.Sprintf(format, args...)))
	}
}

func (t *teller) title(text string) { t.print("\n" + text) }

func (t *teller) step(format string, args ...any) { t.print("  " + fmt.Sprintf(format, args...)) }

func (t *teller) print(line string) {
	if t.err == nil {
		_, t.err = fmt.Fprintln(t.Out, line)
	}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) String() string {
	text := fmt.Sprintf("%d %s", a.status, http.StatusText(a.status))
	for _, name := range []string{httpkey.HeaderReplayed, "Retry-After"} {
		if v := a.header.Get(name); v != "" {
			text += " (" + name + ": " + v + ")"
		}
	}
	return text
}

// request sends a form as Ada. key may be empty; prefer is the header of that name.
func (t *teller) request(method, path, key string, form url.Values, prefer string) (a answer, err error) {
	ctx, cancel := context.WithTimeout(t.ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, t.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		return a, err
	}
	req.Header.Set("Authorization", "Bearer sk_ada")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Prefer", prefer)
	if key != "" {
		req.Header.Set(httpkey.HeaderKey, `"`+key+`"`)
	}
	res, body, err := connect.Send(http.DefaultClient, req)
	if err != nil {
		return a, err
	}
	return answer{res.StatusCode, res.Header, string(body)}, nil
}

// send sends a request, prints the answer after what, and checks its status.
func (t *teller) send(what, method, path, key string, form url.Values, prefer string, want int) (a answer) {
	if t.err != nil {
		return a
	}
	a, err := t.request(method, path, key, form, prefer)
	t.check(err)
	if what != "" {
		t.step("%-62s %s", what, a)
	}
	t.must(a.status == want, "%s: %d %s, not %d", what, a.status, a.body, want)
	return a
}

// order orders.
func (t *teller) order(what, key, item, card string, want int) answer {
	return t.send(what, http.MethodPost, "/orders", key, orderOf(item, card), "", want)
}

func orderOf(item, card string) url.Values {
	return url.Values{"item": {item}, "amount": {"5990"}, "card": {card}}
}

// replay orders again and checks that it is the first answer, byte by byte.
func (t *teller) replay(what, key, item, card, first string) {
	a := t.order(what, key, item, card, http.StatusCreated)
	t.must(a.header.Get(httpkey.HeaderReplayed) == "true" && (first == "" || a.body == first), "%s: %s is not the first answer %s", what, a.body, first)
}
