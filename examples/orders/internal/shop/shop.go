package shop

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/onerow/onerow"
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
	mux.Handle("POST /orders", s.once.TwoStep(http.HandlerFunc(s.createOrder)))
	mux.HandleFunc("GET /orders/{id}", s.showOrder)
	mux.Handle("POST /carts", s.once.OneCommit(http.HandlerFunc(s.createCart)))
	mux.Handle("PUT /carts/{id}", s.once.OneCommit(http.HandlerFunc(s.changeCart)))
	mux.HandleFunc("GET /carts/{id}", s.showCart)
	mux.HandleFunc("POST /bank/notices", s.notice)
	return mux
}

// errCustomer: the API key is missing or nobody's.
var errCustomer = errors.New("shop: no customer has this API key")

// customer is whose request it is: the tenant of its key.
func (s *Shop) customer(r *http.Request) (string, error) {
	secret, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if name, known := s.Customers[secret]; found && known {
		return name, nil
	}
	return "", errCustomer
}
