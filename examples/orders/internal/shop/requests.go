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
	"github.com/onerow/onerow/examples/orders/internal/store"
)

const (
	maxRequest = 64 << 10
	maxItem    = 200
	maxItems   = 50
	maxAmount  = 100_000_000 // cents
)

func readOrder(r *http.Request) (o store.Order, err error) {
	var in struct {
		Item   string `json:"item"`
		Amount int64  `json:"amount"`
		Card   string `json:"card"`
	}
	form, err := read(r, &in)
	if form && err == nil {
		in.Item, in.Card = r.PostForm.Get("item"), r.PostForm.Get("card")
		in.Amount, err = strconv.ParseInt(r.PostForm.Get("amount"), 10, 64)
	}
	switch {
	case err != nil:
		return o, err
	case in.Item == "" || len(in.Item) > maxItem:
		return o, fmt.Errorf("item must have 1 to %d bytes", maxItem)
	case in.Amount < 1 || in.Amount > maxAmount:
		return o, fmt.Errorf("amount must be 1 to %d cents", maxAmount)
	case !slices.Contains(bank.Cards(), in.Card):
		return o, fmt.Errorf("card must be one of %s", strings.Join(bank.Cards(), ", "))
	}
	return store.Order{Item: in.Item, Amount: in.Amount, Card: in.Card}, nil
}

func readCart(r *http.Request) (items []string, err error) {
	var in struct {
		Items []string `json:"items"`
	}
	form, err := read(r, &in)
	if form {
		in.Items = r.PostForm["items"]
	}
	if err == nil && (len(in.Items) == 0 || len(in.Items) > maxItems || slices.ContainsFunc(in.Items, func(s string) bool { return s == "" || len(s) > maxItem })) {
		err = fmt.Errorf("items must be 1 to %d names of 1 to %d bytes", maxItems, maxItem)
	}
	return in.Items, err
}

// read parses a form into r.PostForm, or decodes JSON into v.
func read(r *http.Request, v any) (form bool, err error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && kind == "application/x-www-form-urlencoded" {
		return true, r.ParseForm()
	}
	d := json.NewDecoder(io.LimitReader(r.Body, maxRequest))
	d.DisallowUnknownFields()
	return false, d.Decode(v)
}

// patience is how long the client wants to wait at most (RFC 7240), no longer than limit.
func patience(r *http.Request, limit time.Duration) time.Duration {
	for part := range strings.SplitSeq(r.Header.Get("Prefer"), ",") {
		text, found := strings.CutPrefix(strings.TrimSpace(part), "wait=")
		if seconds, err := strconv.Atoi(text); found && err == nil && seconds > 0 && seconds < int(limit/time.Second) {
			return time.Duration(seconds) * time.Second
		}
	}
	return limit
}
