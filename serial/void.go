package serial

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"unicode/utf8"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/trace"
)

// sqlVoid: by the primary key; it waits for a claim of this key that has not ended yet. The
// condition makes it change the row whenever it counts one.
const sqlVoid = `UPDATE onerow_serial_claim SET voided_at = UTC_TIMESTAMP(6), void_reason = ` + dbtext.Param + `
 WHERE series = ? AND claim_key = ? AND voided_at IS NULL AND from_no IS NOT NULL`

// Void says that the range of a claim is not used, and why. The numbers are never given again; the report
// shows them as voided, not as missing, and a claim with the same key is [ErrVoided] from now on. Voiding
// what is voided is a success that changes nothing and keeps the first reason. Without a claim the error is
// [ErrNoClaim]. A reason is UTF-8 and has at most 65,535 bytes, else the error is [ErrInvalidArgument]: no
// server setting decides whether it is cut.
//
// Two statements, four when the claim is committed between them; on a pool BEGIN and COMMIT besides. When the
// answer to COMMIT is lost the error is [onerow.ErrOutcomeUnknown]; call again.
func (s *Series) Void(ctx context.Context, db onerow.DB, key, reason string) (_ onerow.Result[Claim], err error) {
	ctx, span := trace.Start(ctx, "serial.Void", slog.String("onerow.series", s.name))
	defer span.End(&err)
	var res onerow.Result[Claim]
	if err := s.checkKey(key); err != nil {
		return res, err
	}
	if len(reason) > maxReason || !utf8.ValidString(reason) {
		return res, fmt.Errorf("%w: the reason why claim %q of series %q is voided has %d bytes; give UTF-8 of at most %d", ErrInvalidArgument, key, s.name, len(reason), maxReason)
	}
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		for range 2 {
			n, err := onerow.Affected(ctx, tx, sqlVoid, dbtext.Arg(reason), s.name, key)
			if err != nil {
				return err
			}
			claim, err := s.find(ctx, tx, sqlReadVoided, key)
			res = onerow.Result[Claim]{Row: claim, Changed: n == 1}
			// At READ COMMITTED the claim may have been committed between the two. The row is locked now, and
			// the second UPDATE finds it.
			if err != nil || claim.Voided {
				return err
			}
		}
		return errVoid
	})
	if err != nil {
		return onerow.Result[Claim]{}, fmt.Errorf("serial: void claim %q of series %q: %w", key, s.name, err)
	}
	return res, nil
}

// Both by the primary key. The first is a current read, for a transaction whose snapshot may be older than
// the claim, and locks as the UPDATE that may follow does; the second locks nothing.
const (
	sqlReadVoided = sqlFind + ` FOR UPDATE`
	sqlFind       = `SELECT from_no, to_no, voided_at IS NOT NULL, COALESCE(CAST(void_reason AS BINARY), '')
 FROM onerow_serial_claim WHERE series = ? AND claim_key = ? AND from_no IS NOT NULL`
)

// Find returns the claim of a key, voided or not. It claims nothing. Without one the
// error is [ErrNoClaim]. One statement.
func (s *Series) Find(ctx context.Context, db onerow.DB, key string) (Claim, error) {
	claim, err := s.find(ctx, db, sqlFind, key)
	if err != nil {
		return Claim{}, fmt.Errorf("serial: find claim %q of series %q: %w", key, s.name, err)
	}
	return claim, nil
}

func (s *Series) find(ctx context.Context, db onerow.DB, query, key string) (Claim, error) {
	claim := Claim{Series: s.name, Key: key}
	err := onerow.QueryRow(ctx, db, query, []any{s.name, key}, &claim.From, &claim.To, &claim.Voided, &claim.VoidReason)
	if errors.Is(err, sql.ErrNoRows) {
		return Claim{}, ErrNoClaim
	}
	return claim, err
}
