// Package bank is the payment service of the example: an HTTP server of its own that charges whoever asks, as
// often as it is asked. It knows no idempotency keys, so its ledger shows what the shop did.
//
//	POST /charges reference, amount, card   201 and the charge, 402 declined, 500, no answer, a late one
//	GET  /charges?reference=…               the charges that it made, for whoever has to find out
//
// How it answers depends on the card, see [Cards]. A charge whose client did not wait for the answer is told
// to the shop as a notice (a web hook), sent again until the shop takes it. [Bank.Down] makes the bank
// unreachable.
package bank

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/internal/connect"
)

// Bank is a payment service that runs.
type Bank struct {
	// DB has the ledger.
	DB onerow.DB
	// Notices is the URL of the shop that late answers go to, Secret what they are signed with.
	Notices, Secret string
	// Log gets what the bank does.
	Log *slog.Logger

	// Held meets a charge with the card Held twice: when it has arrived, and before it goes on.
	Held chan struct{}

	addr string
	// life ends with Close and ends what waits.
	life    context.Context
	end     context.CancelFunc
	down    func() error // stops the server; may be called again
	notices sync.WaitGroup
	asked   sync.Map // references
}

// Start starts the bank on a free port of the loopback interface. It runs until Close, whatever
// becomes of ctx.
func (b *Bank) Start(ctx context.Context) error {
	b.addr, b.Held = "127.0.0.1:0", make(chan struct{})
	b.life, b.end = context.WithCancel(context.WithoutCancel(ctx))
	return b.Up(ctx)
}

// URL is the bank's address.
func (b *Bank) URL() string { return "http://" + b.addr }

// Up makes the bank reachable at its address, after Down.
func (b *Bank) Up(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", b.addr)
	if err != nil {
		return fmt.Errorf("bank: cannot listen on %s: %w", b.addr, err)
	}
	b.addr = listener.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /charges", b.charge)
	mux.HandleFunc("GET /charges", b.list)
	life, stop := context.WithCancel(b.life)
	served := make(chan error, 1)
	go func() { served <- connect.Serve(life, listener, mux, 0, b.Log) }()
	b.down = sync.OnceValue(func() error { stop(); return <-served })
	return nil
}

// Down makes the bank unreachable: connections to it are refused. Charges that it works on may take a moment
// to finish.
func (b *Bank) Down() error { return b.down() }

// Close stops the bank and waits until nothing of it runs. A notice that was not taken is given up.
func (b *Bank) Close() error {
	b.end()
	err := b.Down()
	b.notices.Wait()
	return err
}

// The cards.
const (
	OK       = "ok"       // charged
	Declined = "declined" // 402, not charged
	Held     = "held"     // charged when somebody has met it at [Bank.Held], or nobody waits any more
	Late     = "late"     // charged; the answer comes when nobody waits for it any more, as a notice
	Cut      = "cut"      // the first request: charged, and the connection is cut
	Lost     = "lost"     // the first request: the connection is cut, not charged
	Fails    = "fails"    // the first request: 500, not charged
)

// Cards lists the cards that the bank takes.
func Cards() []string { return []string{OK, Declined, Held, Late, Cut, Lost, Fails} }

// Charge is a line of the ledger.
type Charge struct {
	ID        int64  `json:"id"`
	Reference string `json:"reference"`
	Amount    int64  `json:"amount"`
}

// charge answers as the card has it. What a card does to the first request of a reference, it does once.
func (b *Bank) charge(w http.ResponseWriter, r *http.Request) {
	c, card := Charge{Reference: r.PostFormValue("reference")}, r.PostFormValue("card")
	var err error
	if c.Amount, err = strconv.ParseInt(r.PostFormValue("amount"), 10, 64); err != nil || c.Amount <= 0 || !slices.Contains(Cards(), card) {
		b.answer(w, http.StatusBadRequest, "not a charge")
		return
	}
	if _, again := b.asked.LoadOrStore(c.Reference, true); again && slices.Contains([]string{Cut, Lost, Fails}, card) {
		card = OK
	}
	b.Log.Debug("bank: asked for a charge", "reference", c.Reference, "amount", c.Amount, "card", card)
	switch card {
	case Declined:
		b.answer(w, http.StatusPaymentRequired, "declined")
		return
	case Fails:
		b.answer(w, http.StatusInternalServerError, "out of order")
		return
	case Lost:
		panic(http.ErrAbortHandler) // cuts the connection
	case Held:
		b.meet(r.Context())
	case Late:
		select {
		case <-r.Context().Done():
		case <-b.life.Done():
		}
	}
	// A client that goes away does not undo a charge.
	err = b.book(context.WithoutCancel(r.Context()), &c)
	switch {
	case err != nil:
		b.Log.Error("bank: cannot book", "error", err)
		b.answer(w, http.StatusInternalServerError, "out of order")
	case card == Cut:
		panic(http.ErrAbortHandler)
	case r.Context().Err() != nil && b.life.Err() == nil: // nobody waits any more
		b.notices.Go(func() { b.notify(c) })
	default:
		b.answer(w, http.StatusCreated, c)
	}
}

// meet waits until somebody has met a charge twice at Held.
func (b *Bank) meet(ctx context.Context) {
	for range 2 {
		select {
		case b.Held <- struct{}{}:
		case <-ctx.Done():
		case <-b.life.Done():
		}
	}
}

// sqlBook writes nothing but a row more.
const sqlBook = `INSERT INTO bank_charge (reference, amount, charged_at) VALUES (?, ?, UTC_TIMESTAMP(6))`

func (b *Bank) book(ctx context.Context, c *Charge) error {
	res, err := b.DB.ExecContext(ctx, sqlBook, c.Reference, c.Amount)
	if err == nil {
		c.ID, err = res.LastInsertId()
	}
	return err
}

// sqlCharges reads over the index reference.
const sqlCharges = `SELECT id, reference, amount FROM bank_charge WHERE reference = ? ORDER BY id`

func (b *Bank) list(w http.ResponseWriter, r *http.Request) {
	all := []Charge{}
	err := onerow.Query(r.Context(), b.DB, sqlCharges, []any{r.URL.Query().Get("reference")}, func(rows *sql.Rows) error {
		var c Charge
		err := rows.Scan(&c.ID, &c.Reference, &c.Amount)
		all = append(all, c)
		return err
	})
	if err != nil {
		b.Log.Error("bank: cannot list", "error", err)
		b.answer(w, http.StatusInternalServerError, "out of order")
		return
	}
	b.answer(w, http.StatusOK, all)
}

func (b *Bank) answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		b.Log.Debug("bank: the client did not take the answer", "error", err)
	}
}

// SecretHeader carries [Bank].Secret with a notice.
const SecretHeader = "Bank-Secret"

// Times of a notice.
const (
	noticeTime  = time.Minute // for all its attempts
	noticePause = 100 * time.Millisecond
)

// notify tells the shop of a charge until it takes the notice.
func (b *Bank) notify(c Charge) {
	ctx, cancel := context.WithTimeout(b.life, noticeTime)
	defer cancel()
	body, err := json.Marshal(c)
	for err == nil && ctx.Err() == nil {
		var req *http.Request
		if req, err = http.NewRequestWithContext(ctx, http.MethodPost, b.Notices, bytes.NewReader(body)); err != nil {
			break
		}
		req.Header.Set(SecretHeader, b.Secret)
		res, _, serr := connect.Send(http.DefaultClient, req)
		if serr == nil && res.StatusCode < http.StatusMultipleChoices {
			return
		}
		b.Log.Debug("bank: the shop did not take a notice", "reference", c.Reference, "error", serr)
		select {
		case <-time.After(noticePause):
		case <-ctx.Done():
		}
	}
	b.Log.Warn("bank: a notice was given up", "reference", c.Reference, "error", err)
}
