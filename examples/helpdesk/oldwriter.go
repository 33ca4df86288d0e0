package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"
	"github.com/google/uuid"

	"github.com/onerow/onerow/names"
)

// OldWriter is the old application: plain SQL that knows nothing of the toolkit, until it is taught. It
// remembers each write that the server has acknowledged.
type OldWriter struct {
	// DB is its pool. Its sessions may be in any time zone until it is taught; then they are at UTC.
	DB *sql.DB
	// Taught is the one thing that is asked of it: to write what the files behind the backfill demand.
	Taught atomic.Bool
	// Statuses of tickets and Names of workspaces that it wrote, Messages and Attachments of its tickets;
	// Deleted are tickets of its own that it deleted.
	Statuses, Names       map[uuid.UUID]string
	Messages, Attachments map[uuid.UUID]int
	Deleted               map[uuid.UUID]bool
	// Writes is how many were acknowledged.
	Writes atomic.Int64

	r    *rand.Rand
	mine []uuid.UUID // its tickets
}

// NewOldWriter returns one that writes by chance.
func NewOldWriter(db *sql.DB, seed uint64) *OldWriter {
	return &OldWriter{DB: db, Statuses: map[uuid.UUID]string{}, Names: map[uuid.UUID]string{}, Messages: map[uuid.UUID]int{},
		Attachments: map[uuid.UUID]int{}, Deleted: map[uuid.UUID]bool{}, r: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // no secret
}

// Run writes until stop is closed or ctx ends; an error is one that its users would have seen.
func (w *OldWriter) Run(ctx context.Context, stop <-chan struct{}) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-stop:
			return nil
		default:
		}
		if err := w.once(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("the old writer: %w", err)
		}
		w.Writes.Add(1)
	}
}

func (w *OldWriter) once(ctx context.Context) error {
	if len(w.mine) == 0 {
		return w.open(ctx)
	}
	i := w.r.IntN(len(w.mine))
	id := w.mine[i]
	switch w.r.IntN(10) {
	case 0, 1:
		return w.open(ctx)
	case 2:
		return w.rename(ctx)
	case 3:
		w.mine[i], w.mine = w.mine[len(w.mine)-1], w.mine[:len(w.mine)-1]
		return w.remove(ctx, id)
	case 4, 5:
		err := w.tx(ctx, stmt(`INSERT INTO attachments (id, tenant_id, ticket_id, name, bytes`+w.more(", updated_at")+`) SELECT ?, tenant_id, id, 'log.txt', 10`+w.more(", UTC_TIMESTAMP(6)")+` FROM tickets WHERE id = ?`, bytesOf(uuid.New()), bytesOf(id)))
		w.Attachments[id]++
		return err
	case 6, 7:
		status := []string{"open", "waiting", "closed"}[w.r.IntN(3)]
		err := w.tx(ctx, stmt(`UPDATE tickets SET status = ?`+w.more(", updated_at = UTC_TIMESTAMP(6)")+` WHERE id = ?`, status, bytesOf(id)))
		w.Statuses[id] = status
		return err
	}
	err := w.tx(ctx, stmt(`INSERT INTO messages (ticket_id, body`+w.more(", updated_at")+`) VALUES (?, 'from the old writer'`+w.more(", UTC_TIMESTAMP(6)")+`)`, bytesOf(id)))
	w.Messages[id]++
	return err
}

// more is SQL that it was taught.
func (w *OldWriter) more(sql string) string {
	if w.Taught.Load() {
		return sql
	}
	return ""
}

// open makes a ticket in a desk of its tenant, with the next number, as the old application numbers.
func (w *OldWriter) open(ctx context.Context) error {
	id, desk := uuid.New(), w.r.IntN(20)
	times, values := w.more(", created_at, updated_at"), w.more(", UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)")
	err := w.tx(ctx, stmt(`INSERT INTO tickets (id, tenant_id, workspace_id, number, subject`+times+`) SELECT ?, w.tenant_id, w.id, (SELECT MAX(number) + 1 FROM tickets t WHERE t.tenant_id = w.tenant_id), 'from the old writer'`+values+
		` FROM workspaces w WHERE w.id = UNHEX(LEFT(SHA2(?, 256), 32))`, bytesOf(id), fmt.Sprint("w", desk)))
	w.Statuses[id] = "open"
	w.mine = append(w.mine, id)
	return err
}

// rename gives a workspace another name, whose key goes with it once it was taught.
func (w *OldWriter) rename(ctx context.Context) error {
	var id uuid.UUID
	desk := w.r.IntN(20)
	if err := w.DB.QueryRowContext(ctx, `SELECT id FROM workspaces WHERE id = UNHEX(LEFT(SHA2(?, 256), 32))`, fmt.Sprint("w", desk)).Scan(&id); err != nil {
		return err
	}
	name := fmt.Sprintf("Renamed  %d", w.Writes.Load())
	n, err := names.KindName.Parse(name)
	if err != nil {
		return err
	}
	args := []any{name}
	if w.Taught.Load() {
		args = append(args, []byte(n.Key), []byte(n.StemKey), n.Copy)
	}
	err = w.tx(ctx, stmt(`UPDATE workspaces SET name = ?`+w.more(", name_key = ?, stem_key = ?, copy_no = ?, updated_at = UTC_TIMESTAMP(6)")+` WHERE id = ?`, append(args, bytesOf(id))...))
	w.Names[id] = name
	return err
}

// remove deletes a ticket of its own. Foreign keys take what is below it; once it was taught it does so.
func (w *OldWriter) remove(ctx context.Context, id uuid.UUID) error {
	var all []statement
	if w.Taught.Load() {
		for _, table := range []string{"messages", "attachments", "ticket_tag"} {
			all = append(all, stmt(`DELETE FROM `+table+` WHERE ticket_id = ?`, bytesOf(id)))
		}
	}
	err := w.tx(ctx, append(all, stmt(`DELETE FROM tickets WHERE id = ?`, bytesOf(id)))...)
	w.Deleted[id] = true
	delete(w.Statuses, id)
	delete(w.Messages, id)
	delete(w.Attachments, id)
	return err
}

type statement struct {
	sql  string
	args []any
}

func stmt(sql string, args ...any) statement { return statement{sql, args} }

func bytesOf(id uuid.UUID) []byte { return id[:] }

// again are errors after which the old application tries again: a deadlock, a snapshot that is too old
// (MariaDB 11), a number that is taken.
var again = map[uint16]bool{1213: true, 1020: true, 1062: true}

// tx is a transaction of the old application.
func (w *OldWriter) tx(ctx context.Context, all ...statement) error {
	for {
		err := w.try(ctx, all)
		var refused *mysql.MySQLError
		if !errors.As(err, &refused) || !again[refused.Number] {
			return err
		}
	}
}

func (w *OldWriter) try(ctx context.Context, all []statement) error {
	tx, err := w.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, s := range all {
		if _, err := tx.ExecContext(ctx, s.sql, s.args...); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}
