package shop

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
)

// Config is how the shop runs. All but Log is needed.
type Config struct {
	DB   onerow.DB
	Keys *idempotency.Keys
	// Bank is the payment service's URL, Secret what its notices are signed with.
	Bank, Secret string
	// ChargeTime is how long the bank's answer is waited for. A client may wait less, with the header
	// "Prefer: wait=3".
	ChargeTime time.Duration
	// Customers are the API keys and whose they are.
	Customers map[string]string
	Log       *slog.Logger
}

// Shop is the order API.
type Shop struct {
	Config
	once *httpkey.Middleware
	bank payments
}

// afterCharge is the time that a handler has besides the charge.
const afterCharge = 30 * time.Second

// New makes the shop. It sends nothing.
func New(c Config) (*Shop, error) {
	s := &Shop{Config: c, bank: newPayments(c.Bank)}
	var err error
	s.once, err = httpkey.New(c.DB, c.Keys, httpkey.Config{
		Tenant: s.customer, Headers: []string{"Location"}, MaxRequest: maxRequest, Timeout: c.ChargeTime + afterCharge, Log: c.Log,
	})
	return s, err
}

// Handler is the API.
func (s *Shop) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /orders", s.once.TwoStep(s.handle(s.createOrder)))
	mux.Handle("GET /orders/{id}", s.handle(s.showOrder))
	mux.Handle("POST /carts", s.once.OneCommit(s.handle(s.createCart)))
	mux.Handle("PUT /carts/{id}", s.once.OneCommit(s.handle(s.changeCart)))
	mux.Handle("GET /carts/{id}", s.handle(s.showCart))
	mux.Handle("POST /bank/notices", s.handle(s.notice))
	return mux
}

var (
	errCustomer = &failure{status: http.StatusForbidden, detail: "send your API key"}
	errNoRow    = &failure{status: http.StatusNotFound, detail: "there is no such row"}
)

// customer is whose request it is: the tenant of its key.
func (s *Shop) customer(r *http.Request) (string, error) {
	secret, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if name, known := s.Customers[secret]; found && known {
		return name, nil
	}
	return "", errCustomer
}

// asked is who asks for which row.
func (s *Shop) asked(r *http.Request) (customer string, id int64, err error) {
	if customer, err = s.customer(r); err != nil {
		return "", 0, err
	}
	if id, err = strconv.ParseInt(r.PathValue("id"), 10, 64); err != nil {
		return "", 0, errNoRow
	}
	return customer, id, nil
}

// failure is an answer that is not what the client wants: detail is for the client, cause for the log.
type failure struct {
	status int
	detail string
	cause  error
	again  bool // it may be sent again in a moment
}

func (f *failure) Error() string { return f.detail }

// later is for what may succeed in a moment.
func later(detail string, cause error) error {
	return &failure{http.StatusServiceUnavailable, detail, cause, true}
}

// handle answers an error of a handler as a problem (RFC 9457).
func (s *Shop) handle(h func(w http.ResponseWriter, r *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		var f *failure
		switch {
		case errors.As(err, &f):
		case errors.Is(err, store.ErrNotFound):
			f = errNoRow
		default:
			f = &failure{http.StatusInternalServerError, "something went wrong here", err, false}
		}
		if f.cause != nil {
			s.Log.WarnContext(r.Context(), "shop: "+f.detail, "path", r.URL.Path, "status", f.status, "error", f.cause)
		}
		if f.again {
			w.Header().Set("Retry-After", "1")
		}
		w.Header().Set("Content-Type", "application/problem+json")
		s.write(w, r, f.status, httpkey.Problem{Type: "about:blank", Title: http.StatusText(f.status), Status: f.status, Detail: f.detail})
	})
}

// write sends v as JSON.
func (s *Shop) write(w http.ResponseWriter, r *http.Request, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		s.Log.ErrorContext(r.Context(), "shop: an answer cannot be written", "error", err)
		status = http.StatusInternalServerError
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		s.Log.DebugContext(r.Context(), "shop: the client did not take the answer", "error", err)
	}
}
