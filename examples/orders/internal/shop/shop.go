package shop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
)

const maxRequest = 64 << 10

// Config is how the shop runs. All but Log is needed.
type Config struct {
	DB   onerow.DB
	Keys *idempotency.Keys
	// Bank is the payment service's URL, Secret what its notices are signed with.
	Bank, Secret string
	// ChargeTime is how long the bank's answer is waited for. A client may wait less, with the header
	// "Prefer: wait=3".
	ChargeTime time.Duration
	Log        *slog.Logger
}

// Shop is the order API.
type Shop struct {
	Config
	once *httpkey.Middleware
	// client never asks the bank twice by itself. Each charge has a connection of its own, so one that breaks
	// before anything was sent is always seen as what it is, a failure to connect.
	client http.Client
}

// New makes the shop. It sends nothing.
func New(c Config) (*Shop, error) {
	s := &Shop{Config: c, client: http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	var err error
	s.once, err = httpkey.New(c.DB, c.Keys, httpkey.Config{
		Tenant: customerOf, Headers: []string{"Location"}, MaxRequest: maxRequest, Timeout: c.ChargeTime + 30*time.Second, Log: c.Log,
	})
	return s, err
}

// Handler is the API.
func (s *Shop) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /orders", s.once.TwoStep(s.handle(s.createOrder)))
	mux.Handle("GET /orders/{id}", s.handle(show(s, store.OrderByID)))
	mux.Handle("POST /carts", s.once.OneCommit(s.handle(s.writeCart)))
	mux.Handle("PUT /carts/{id}", s.once.OneCommit(s.handle(s.writeCart)))
	mux.Handle("GET /carts/{id}", s.handle(show(s, store.CartByID)))
	mux.Handle("POST /bank/notices", s.handle(s.notice))
	return mux
}

var (
	errCustomer = &failure{status: http.StatusForbidden, detail: "send your API key"}
	errNoRow    = &failure{status: http.StatusNotFound, detail: "there is no such row"}
)

// customerOf is whose request it is: the tenant of its key.
func customerOf(r *http.Request) (string, error) {
	switch r.Header.Get("Authorization") {
	case "Bearer sk_ada":
		return "ada", nil
	case "Bearer sk_bob":
		return "bob", nil
	}
	return "", errCustomer
}

// asked is who asks for which row; the id is 0 where the address has none.
func asked(r *http.Request) (customer string, id int64, err error) {
	if customer, err = customerOf(r); err != nil {
		return "", 0, err
	}
	if text := r.PathValue("id"); text != "" {
		if id, err = strconv.ParseInt(text, 10, 64); err != nil || id <= 0 {
			return "", 0, errNoRow
		}
	}
	return customer, id, nil
}

// handler answers a request with a status and what is sent as JSON.
type handler func(w http.ResponseWriter, r *http.Request) (status int, body any, err error)

// show answers with a row of the customer's.
func show[T interface{ OwnedBy(customer string) bool }](s *Shop, read func(context.Context, onerow.DB, int64) (T, error)) handler {
	return func(_ http.ResponseWriter, r *http.Request) (int, any, error) {
		customer, id, err := asked(r)
		if err != nil {
			return 0, nil, err
		}
		row, err := read(r.Context(), s.DB, id)
		if err == nil && !row.OwnedBy(customer) {
			err = errNoRow
		}
		return http.StatusOK, row, err
	}
}

// failure is an answer that is not what the client wants: detail is for the client, cause for the log.
type failure struct {
	status int
	detail string
	cause  error
}

func (f *failure) Error() string { return f.detail }

// invalid is what a request must not say.
func invalid(format string, args ...any) error {
	return &failure{status: http.StatusBadRequest, detail: fmt.Sprintf(format, args...)}
}

// handle sends what a handler answers, an error as a problem (RFC 9457). What is 503 may be sent again in a
// moment.
func (s *Shop) handle(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind := "application/json"
		status, answer, err := h(w, r)
		if err != nil {
			f := &failure{http.StatusInternalServerError, "something went wrong here", err}
			if !errors.As(err, &f) && errors.Is(err, store.ErrNotFound) {
				f = errNoRow
			}
			if f.cause != nil {
				s.Log.WarnContext(r.Context(), "shop: "+f.detail, "path", r.URL.Path, "status", f.status, "error", f.cause)
			}
			if f.status == http.StatusServiceUnavailable {
				w.Header().Set("Retry-After", "1")
			}
			kind, status = "application/problem+json", f.status
			answer = httpkey.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: f.detail}
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			s.Log.DebugContext(r.Context(), "shop: the client did not take the answer", "error", err)
		}
	})
}
