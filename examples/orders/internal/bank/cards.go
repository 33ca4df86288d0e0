package bank

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/onerow/onerow"
)

// The cards.
const (
	OK       = "ok"       // charged
	Declined = "declined" // 402, not charged
	Held     = "held"     // charged when [Bank.Let] says so, or after Config.Hold
	Late     = "late"     // charged; the answer comes when nobody waits for it any more, as a notice
	Cut      = "cut"      // the first request: charged, and the connection is cut
	Lost     = "lost"     // the first request: the connection is cut, not charged
	Fails    = "fails"    // the first request: 500, not charged
)

// Cards are the cards that the bank takes.
func Cards() []string { return []string{OK, Declined, Held, Late, Cut, Lost, Fails} }

// Request asks for a charge.
type Request struct {
	Reference string `json:"reference"`
	Amount    int64  `json:"amount"` // cents
	Card      string `json:"card"`
}

// Charge is a line of the ledger.
type Charge struct {
	ID        int64  `json:"id"`
	Reference string `json:"reference"`
	Amount    int64  `json:"amount"`
}

const maxRequest = 4 << 10

// charge answers as the card has it. What a card does to the first request of a reference, it does once.
func (b *Bank) charge(w http.ResponseWriter, r *http.Request) {
	var req Request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&req); err != nil || req.Amount <= 0 || !slices.Contains(Cards(), req.Card) {
		b.answer(w, http.StatusBadRequest, "not a charge")
		return
	}
	b.mu.Lock()
	b.asked[req.Reference]++
	if b.asked[req.Reference] > 1 && slices.Contains([]string{Cut, Lost, Fails}, req.Card) {
		req.Card = OK
	}
	b.mu.Unlock()
	b.cfg.Log.Debug("bank: asked for a charge", "reference", req.Reference, "amount", req.Amount, "card", req.Card)
	switch req.Card {
	case Declined:
		b.answer(w, http.StatusPaymentRequired, "declined")
		return
	case Fails:
		b.answer(w, http.StatusInternalServerError, "out of order")
		return
	case Lost:
		b.cut(w)
		return
	case Held:
		b.wait(req.Reference)
	}
	// A client that goes away does not undo a charge.
	c, err := b.book(context.WithoutCancel(r.Context()), req)
	switch {
	case err != nil:
		b.cfg.Log.Error("bank: cannot book", "error", err)
		b.answer(w, http.StatusInternalServerError, "out of order")
	case req.Card == Cut:
		b.cut(w)
	case req.Card == Late:
		select {
		case <-r.Context().Done(): // nobody waits any more
		case <-b.life.Done():
		}
		b.work.Go(func() { b.notify(c) })
	default:
		b.answer(w, http.StatusCreated, c)
	}
}

// sqlBook writes nothing but a row more.
const sqlBook = `INSERT INTO bank_charge (reference, amount, charged_at) VALUES (?, ?, UTC_TIMESTAMP(6))`

func (b *Bank) book(ctx context.Context, req Request) (Charge, error) {
	c := Charge{Reference: req.Reference, Amount: req.Amount}
	res, err := b.cfg.DB.ExecContext(ctx, sqlBook, req.Reference, req.Amount)
	if err != nil {
		return c, err
	}
	c.ID, err = res.LastInsertId()
	return c, err
}

// sqlCharges reads over the index reference.
const sqlCharges = `SELECT id, reference, amount FROM bank_charge WHERE reference = ? ORDER BY id`

func (b *Bank) list(w http.ResponseWriter, r *http.Request) {
	all := []Charge{}
	err := onerow.Query(r.Context(), b.cfg.DB, sqlCharges, []any{r.URL.Query().Get("reference")}, func(rows *sql.Rows) error {
		var c Charge
		err := rows.Scan(&c.ID, &c.Reference, &c.Amount)
		all = append(all, c)
		return err
	})
	if err != nil {
		b.cfg.Log.Error("bank: cannot list", "error", err)
		b.answer(w, http.StatusInternalServerError, "out of order")
		return
	}
	b.answer(w, http.StatusOK, all)
}

func (b *Bank) answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		b.cfg.Log.Debug("bank: the client did not take the answer", "error", err)
	}
}

// cut ends the connection without an answer.
func (b *Bank) cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		err = conn.Close()
	}
	if err != nil {
		b.cfg.Log.Error("bank: cannot cut the connection", "error", err)
	}
}

// SecretHeader carries Config.Secret with a notice.
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
	for {
		err := b.notice(ctx, c)
		if err == nil {
			return
		}
		b.cfg.Log.Debug("bank: the shop did not take a notice", "reference", c.Reference, "error", err)
		select {
		case <-time.After(noticePause):
		case <-ctx.Done():
			b.cfg.Log.Warn("bank: a notice was given up", "reference", c.Reference)
			return
		}
	}
}

func (b *Bank) notice(ctx context.Context, c Charge) error {
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.cfg.Notices, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(SecretHeader, b.cfg.Secret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("the shop answered %s", res.Status)
	}
	return errors.Join(err, res.Body.Close())
}
