package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/onerow/onerow/examples/orders/internal/bank"
	"github.com/onerow/onerow/examples/orders/internal/carts"
	"github.com/onerow/onerow/examples/orders/internal/shop"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
)

// World is the running example.
type World struct {
	DB    *sql.DB
	Keys  *idempotency.Keys
	Shop  *shop.Shop
	Bank  *bank.Bank
	Carts *carts.Validator
	// URL is the shop's.
	URL string
	// Out gets the stories.
	Out io.Writer
}

// ErrStory means: a step had another outcome than it must have.
var ErrStory = errors.New("demo: the story went wrong")

// Tell tells both stories and the closing tables.
func Tell(ctx context.Context, w World) error {
	t := &teller{World: w}
	for _, part := range []func(context.Context) error{
		t.answers, t.inFlight, t.notReached, t.unclear, t.late, t.oneCommit, t.keyTable, t.validation, t.flowTable,
	} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return t.out
}

// teller prints. out is the first error of printing.
type teller struct {
	World
	out  error
	cart int64 // of oneCommit, validated by validation
}

func (t *teller) title(format string, args ...any) { t.print("\n"+format+"\n", args...) }
func (t *teller) step(format string, args ...any)  { t.print("  "+format+"\n", args...) }

func (t *teller) print(format string, args ...any) {
	if t.out == nil {
		_, t.out = fmt.Fprintf(t.Out, format, args...)
	}
}

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrStory, fmt.Sprintf(format, args...))
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) String() string {
	var extra []string
	for _, name := range []string{httpkey.HeaderReplayed, "Retry-After"} {
		if v := a.header.Get(name); v != "" {
			extra = append(extra, name+": "+v)
		}
	}
	text := fmt.Sprintf("%d %s", a.status, http.StatusText(a.status))
	if len(extra) > 0 {
		text += " (" + strings.Join(extra, ", ") + ")"
	}
	return text
}

const maxAnswer = 1 << 20

// send sends a request as Ada. key may be empty; prefer is the header of that name.
func (t *teller) send(ctx context.Context, method, path, key, body, prefer string) (a answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, t.URL+path, strings.NewReader(body))
	if err != nil {
		return a, err
	}
	req.Header.Set("Authorization", "Bearer sk_ada")
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set(httpkey.HeaderKey, `"`+key+`"`)
	}
	if prefer != "" {
		req.Header.Set("Prefer", prefer)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	return answer{res.StatusCode, res.Header, string(text)}, err
}

// order orders, prints the answer after what, and checks its status.
func (t *teller) order(ctx context.Context, what, key, item, card string, want int) (answer, error) {
	return t.post(ctx, what, "/orders", key, orderBody(item, card), "", want)
}

func orderBody(item, card string) string {
	return fmt.Sprintf(`{"item":%q,"amount":5990,"card":%q}`, item, card)
}

func (t *teller) post(ctx context.Context, what, path, key, body, prefer string, want int) (answer, error) {
	a, err := t.send(ctx, http.MethodPost, path, key, body, prefer)
	if err != nil {
		return a, err
	}
	t.step("%-62s %s", what, a)
	if a.status != want {
		return a, wrong("%s: %d %s, not %d", what, a.status, a.body, want)
	}
	return a, nil
}

// replay orders again and checks that it is the first answer, byte by byte.
func (t *teller) replay(ctx context.Context, what, key, item, card, first string) error {
	a, err := t.order(ctx, what, key, item, card, http.StatusCreated)
	if err != nil {
		return err
	}
	if a.header.Get(httpkey.HeaderReplayed) != "true" || first != "" && a.body != first {
		return wrong("%s: %s is not the first answer %s", what, a.body, first)
	}
	return nil
}
