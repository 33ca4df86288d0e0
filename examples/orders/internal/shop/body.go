package shop

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow/examples/orders/internal/bank"
	"github.com/onerow/onerow/idempotency/httpkey"
)

const (
	maxRequest = 64 << 10
	maxItem    = 200
	maxItems   = 50
	maxAmount  = 100_000_000 // cents
)

type orderRequest struct {
	Item   string `json:"item"`
	Amount int64  `json:"amount"`
	Card   string `json:"card"`
}

type cartRequest struct {
	Items []string `json:"items"`
}

func readOrder(r *http.Request) (in orderRequest, err error) {
	if isForm(r) {
		if err := r.ParseForm(); err != nil {
			return in, err
		}
		in.Item, in.Card = r.PostForm.Get("item"), r.PostForm.Get("card")
		in.Amount, err = strconv.ParseInt(r.PostForm.Get("amount"), 10, 64)
	} else {
		err = readJSON(r, &in)
	}
	switch {
	case err != nil:
		return in, err
	case in.Item == "" || len(in.Item) > maxItem:
		return in, fmt.Errorf("item must have 1 to %d bytes", maxItem)
	case in.Amount < 1 || in.Amount > maxAmount:
		return in, fmt.Errorf("amount must be 1 to %d cents", maxAmount)
	case !slices.Contains(bank.Cards(), in.Card):
		return in, fmt.Errorf("card must be one of %s", strings.Join(bank.Cards(), ", "))
	}
	return in, nil
}

func readCart(r *http.Request) (in cartRequest, err error) {
	if isForm(r) {
		if err := r.ParseForm(); err != nil {
			return in, err
		}
		in.Items = r.PostForm["items"]
	} else {
		err = readJSON(r, &in)
	}
	if err == nil && (len(in.Items) == 0 || len(in.Items) > maxItems || slices.ContainsFunc(in.Items, func(s string) bool { return s == "" || len(s) > maxItem })) {
		err = fmt.Errorf("items must be 1 to %d names of 1 to %d bytes", maxItems, maxItem)
	}
	return in, err
}

func isForm(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/x-www-form-urlencoded"
}

func readJSON(r *http.Request, v any) error {
	d := json.NewDecoder(io.LimitReader(r.Body, maxRequest))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// patience is how long the client wants to wait at most (RFC 7240), no longer than limit.
func patience(r *http.Request, limit time.Duration) time.Duration {
	for _, part := range strings.Split(r.Header.Get("Prefer"), ",") {
		text, found := strings.CutPrefix(strings.TrimSpace(part), "wait=")
		if seconds, err := strconv.Atoi(text); found && err == nil && seconds > 0 && seconds < int(limit/time.Second) {
			return time.Duration(seconds) * time.Second
		}
	}
	return limit
}

// write sends v as JSON.
func (s *Shop) write(w http.ResponseWriter, r *http.Request, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		s.problem(w, r, http.StatusInternalServerError, "the answer cannot be written", err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		s.Log.DebugContext(r.Context(), "shop: the client did not take the answer", "error", err)
	}
}

// problem answers with what the client may know; the cause goes to the log.
func (s *Shop) problem(w http.ResponseWriter, r *http.Request, status int, detail string, cause error) {
	if cause != nil {
		s.Log.WarnContext(r.Context(), "shop: "+detail, "path", r.URL.Path, "status", status, "error", cause)
	}
	body, err := json.Marshal(httpkey.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail})
	if err != nil {
		s.Log.ErrorContext(r.Context(), "shop: a problem cannot be written", "error", err)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		s.Log.DebugContext(r.Context(), "shop: the client did not take the answer", "error", err)
	}
}
