package page

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/output"
)

// reader finds out what a page shows, or why it shows nothing.
type reader func(ctx context.Context, r *http.Request) (view any, err error)

// refusal is an error in words for the one who looks or presses, with the status of the answer.
type refusal struct {
	status int
	text   string
}

func (e refusal) Error() string { return e.text }

// notFound says that what it is about is not there, or not any more.
func notFound(format string, args ...any) error {
	return refusal{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// conflict says that what is asked for cannot be done to what is there.
func conflict(format string, args ...any) error {
	return refusal{http.StatusConflict, capital(fmt.Sprintf(format, args...)) + "."}
}

// show makes a handler of a reader: a page of this template, or the part of it that is kept up to date.
func (p *Page) show(template string, read reader) http.HandlerFunc {
	return p.showWithin(readBudget, template, read)
}

func (p *Page) showWithin(budget time.Duration, template string, read reader) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), budget)
		defer cancel()
		view, err := read(ctx, r)
		var no refusal
		switch {
		case errors.As(err, &no):
			p.fail(w, r, no.status, no.text)
		case err != nil:
			p.log.WarnContext(r.Context(), "page: cannot be shown", "path", r.URL.Path, "error", output.OneLine(err.Error()))
			if fault.Denied(err) {
				p.fail(w, r, http.StatusServiceUnavailable, "The database’s user that this process works with may not read that: grant it what the command for it needs, see Grants in OPERATIONS.md.")
				return
			}
			p.fail(w, r, http.StatusServiceUnavailable, "The database cannot be read just now.")
		default:
			p.render(w, r, http.StatusOK, template, view)
		}
	}
}

// home is the board as it is now. It is polled rather than streamed: nothing is open while a client is slow
// or away, and proxies have nothing to keep or to cut. An unchanged board is a 304.
func (p *Page) home(ctx context.Context, r *http.Request) (any, error) {
	return p.as(r).view(p.watch.read(ctx)), nil
}

// addressed is the number in the address, of a job or of a parked row; 0 for what is none.
func addressed(r *http.Request) int64 {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id < 1 {
		return 0
	}
	return id
}

const (
	flashCookie  = "onerow_message"
	flashSeconds = 60
)

// flash is what the page says after a post. It travels in a cookie through the
// redirect, so that a reload does not say it again and any worker can show it.
type flash struct {
	Bad  bool
	Text string
}

func (p *Page) setFlash(w http.ResponseWriter, r *http.Request, f flash) {
	kind := "+"
	if f.Bad {
		kind = "-"
	}
	p.setCookie(w, r, flashCookie, base64.RawURLEncoding.EncodeToString([]byte(kind+output.Shorten(f.Text, 600))), flashSeconds)
}

func (p *Page) takeFlash(w http.ResponseWriter, r *http.Request) *flash {
	cookie, err := r.Cookie(flashCookie)
	if err != nil {
		return nil
	}
	p.setCookie(w, r, flashCookie, "", -1)
	text, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || len(text) < 2 {
		return nil
	}
	return &flash{Bad: text[0] == '-', Text: output.Printable(string(text[1:]))}
}
