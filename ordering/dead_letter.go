package ordering

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/trace"
)

// DeadLetter is a message that could not be applied.
type DeadLetter struct {
	// ID is given by the database.
	ID int64 `json:"id"`
	// Queue is where it came from, 1 to 64 bytes; MessageID is its id there, 1 to 255
	// bytes, or its request id.
	Queue     string `json:"queue"`
	MessageID string `json:"message_id"`
	Payload   []byte `json:"payload"`
	// Reason is why, in words.
	Reason string `json:"reason"`
	// Losing are the versions that an optimistic update read and lost, in their order: a list of objects of
	// the "version", the "row" as JSON, and what was "wanted". Where JSON would not keep one, as a text that
	// is not UTF-8, it is an object of the "error" that says so, and of the value in Go.
	Losing json.RawMessage `json:"losing"`
	// ParkedAt is the database's time.
	ParkedAt time.Time `json:"parked_at"`
}

// sqlParkLetter: the unique key (queue, message_id) decides; it waits only for another parking of
// the same message.
const sqlParkLetter = `INSERT INTO onerow_dead_letter (queue, message_id, payload, reason, losing, parked_at)
 VALUES (?, ?, ?, ` + dbtext.Param + `, ` + dbtext.Param + `, UTC_TIMESTAMP(6))`

// Park puts a message into the dead-letter table, with cause as its reason and, where cause is an
// [ErrConflict], the versions that lost. Give it the transaction that takes the message off its queue, if
// that is in this database. Parking again is a success that changes nothing and keeps the first reason. It
// reports whether the message is new there. One statement; on a pool BEGIN and COMMIT besides. It is called
// again safely, also after [onerow.ErrOutcomeUnknown].
func Park(ctx context.Context, db onerow.DB, queue, messageID string, payload []byte, cause error) (_ bool, err error) {
	ctx, span := trace.Start(ctx, "ordering.Park", slog.String("onerow.queue", queue))
	defer span.End(&err)
	if queue == "" || len(queue) > maxConsumer || messageID == "" || len(messageID) > maxStream || len(payload) > maxBlob || cause == nil {
		return false, fmt.Errorf("%w: a dead letter has a queue (up to %d bytes), a message id (up to %d), a payload (up to %d) and a cause",
			ErrInvalidArgument, maxConsumer, maxStream, maxBlob)
	}
	var losing any
	if conflict, ok := errors.AsType[*conflictError](cause); ok {
		text, err := json.Marshal(conflict.losing) // numbers, and texts that are UTF-8: see textOf
		if err != nil {
			return false, errtext.Wrap(err, "ordering: park message %q of %s", messageID, queue)
		}
		losing = dbtext.Arg(string(text))
	}
	fresh := false
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		_, err := tx.ExecContext(ctx, sqlParkLetter, queue, messageID, payload, dbtext.Arg(cut(cause.Error())), losing)
		if fresh = err == nil; mysqlerr.Classify(err) == mysqlerr.Duplicate {
			return nil // the id is drawn by the server, so it is the message
		}
		return err
	})
	return fresh && err == nil, errtext.Wrap(err, "ordering: park message %q of %s", messageID, queue)
}

// cut keeps a reason within its column; the end of a text may be cut, not of data.
func cut(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD") // the column refuses anything else
	const most = 10_000                        // characters of at most 4 bytes, TEXT has 65,535 bytes
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}

// sqlLetters reads a range of the index parked; locks nothing.
const sqlLetters = `SELECT id, message_id, payload, CAST(reason AS BINARY), CAST(losing AS BINARY), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', parked_at)
 FROM onerow_dead_letter FORCE INDEX (parked) WHERE queue = ? AND id > ? ORDER BY id LIMIT ?`

// DeadLetters returns up to limit parked messages of a queue behind the id after, in
// the order of their parking. One statement.
func DeadLetters(ctx context.Context, db onerow.DB, queue string, after int64, limit int) ([]DeadLetter, error) {
	var all []DeadLetter
	err := onerow.Query(ctx, db, sqlLetters, []any{queue, after, limit}, func(rows *sql.Rows) error {
		d := DeadLetter{Queue: queue}
		var at int64
		err := rows.Scan(&d.ID, &d.MessageID, &d.Payload, &d.Reason, (*[]byte)(&d.Losing), &at)
		d.ParkedAt = time.UnixMicro(at).UTC()
		all = append(all, d)
		return err
	})
	return all, errtext.Wrap(err, "ordering: dead letters of %s", queue)
}

// sqlTake: by the primary key.
const sqlTake = `DELETE FROM onerow_dead_letter WHERE id = ?`

// Settle removes a parked message, in the transaction that applies it after all. It reports whether it was
// there: of two that settle it, one is told so, and only that one may go on. One statement.
func Settle(ctx context.Context, tx onerow.DB, id int64) (bool, error) {
	n, err := onerow.Affected(ctx, tx, sqlTake, id)
	return n == 1, errtext.Wrap(err, "ordering: settle dead letter %d", id)
}
