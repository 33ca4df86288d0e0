package bank

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/onerow/onerow"
)

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

func (b *Bank) charge(w http.ResponseWriter, r *http.Request) {
	var req Request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&req); err != nil || req.Amount <= 0 || !slices.Contains(Cards(), req.Card) {
		b.answer(w, http.StatusBadRequest, map[string]string{"error": "not a charge"})
		return
	}
	how := b.behaviour(req.Card, req.Reference)
	b.cfg.Log.Debug("bank: asked for a charge", "reference", req.Reference, "amount", req.Amount, "card", how)
	switch how {
	case Declined:
		b.answer(w, http.StatusPaymentRequired, map[string]string{"error": "declined"})
		return
	case Fails:
		b.answer(w, http.StatusInternalServerError, map[string]string{"error": "out of order"})
		return
	case Lost:
		b.cut(w)
		return
	case Held:
		b.wait(req.Reference)
	}
	// A client that goes away does not undo a charge.
	c, err := b.book(context.WithoutCancel(r.Context()), req)
	if err != nil {
		b.cfg.Log.Error("bank: cannot book", "error", err)
		b.answer(w, http.StatusInternalServerError, map[string]string{"error": "out of order"})
		return
	}
	switch how {
	case Cut:
		b.cut(w)
	case Late:
		select {
		case <-r.Context().Done(): // nobody waits any more
		case <-b.life.Done():
		}
		b.work.Go(func() { b.notify(c) })
	default:
		b.answer(w, http.StatusCreated, c)
	}
}

// sqlBook: nothing but a row more.
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

// sqlCharges: over the index reference.
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
		b.answer(w, http.StatusInternalServerError, map[string]string{"error": "out of order"})
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
