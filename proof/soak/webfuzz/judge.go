package webfuzz

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// Kinds of findings about tables and files.
const (
	brokenLost  = "what was acknowledged is not there"
	brokenOther = "a row is not what was acknowledged"
	brokenExtra = "a row is there that nobody was told of"
	brokenFile  = "a file is not what was sent"
	brokenQueue = "deletions are left"
	brokenEvil  = "what was refused is in a table"
)

// compare holds the rows of a table, by their names, against those that were acknowledged.
func compare(found *fuzz.Findings, where string, want, got map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch is, there := got[name]; {
		case !there:
			found.Add(brokenLost, "%s: %s, %.300s", where, name, want[name])
		case is != want[name]:
			found.Add(brokenOther, "%s: %s is %.300s, not %.300s", where, name, is, want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, told := want[name]; !told {
			found.Add(brokenExtra, "%s: %s, %.300s", where, name, got[name])
		}
	}
}

// read reads rows of two columns, a name and a text; texts of one name follow each other.
func read(ctx context.Context, db *sql.DB, query string, args ...any) (map[string]string, error) {
	rows := map[string]string{}
	err := onerow.Query(ctx, db, query, args, func(r *sql.Rows) error {
		var name, text string
		err := r.Scan(&name, &text)
		if before, more := rows[name]; more {
			text = before + "\n" + text
		}
		rows[name] = text
		return err //nolint:wrapcheck // it says all
	})
	if err != nil {
		return nil, fmt.Errorf("soak: %w: %s", err, query)
	}
	return rows, nil
}

// judge holds all tables, and the files, against what was answered, when the workers have done their work.
func (w *world) judge(ctx context.Context) error {
	errs := []error{w.resume(ctx)}
	for _, name := range []string{"projects", "helpdesk", "office"} {
		if name == "office" && len(w.offices) == 0 {
			continue
		}
		done, err := fuzz.Within(ctx, 30*time.Second, func() (bool, error) {
			var n int
			err := w.dbs[name].QueryRowContext(ctx, "SELECT COUNT(*) FROM onerow_job").Scan(&n)
			return n == 0, err //nolint:wrapcheck // it says all
		})
		if !done && err == nil {
			w.found.Add(brokenQueue, "in %s, after 30 seconds", name)
		}
		errs = append(errs, err)
	}
	errs = append(errs, w.judgeProjects(ctx), w.judgeDesks(ctx), w.judgeOrders(ctx), w.judgeOffices(ctx), w.judgeEvil(ctx))
	return errors.Join(errs...)
}

// resume takes back what the operator has paused.
func (w *world) resume(ctx context.Context) error {
	_, err := w.dbs["operated"].ExecContext(ctx, "DELETE FROM onerow_switch")
	return err //nolint:wrapcheck // it says all
}

func (w *world) judgeProjects(ctx context.Context) error {
	db := w.dbs["projects"]
	accounts, err := read(ctx, db, "SELECT id, name FROM account")
	if err != nil {
		return err
	}
	if len(accounts) != len(w.tenants) {
		w.found.Add(brokenExtra, "%d accounts, not %d: %.500q", len(accounts), len(w.tenants), accounts)
	}
	errs := []error{}
	for _, t := range w.tenants {
		if t.lost {
			w.found.Add(brokenNone, "user %d: what was done cannot be judged, for an answer is lost", t.id)
			continue
		}
		want, screens, comments := map[string]string{}, map[string]string{}, map[string]string{}
		for id, p := range t.projects {
			want[fmt.Sprint(id)] = fmt.Sprintf("%t %s", p.archived, p.name)
			for id, s := range p.screens {
				screens[id] = fmt.Sprintf("%t %d %s", s.archived, s.size, s.filename)
				if len(s.comments) > 0 {
					comments[id] = strings.Join(s.comments, "\n")
				}
			}
		}
		below := " WHERE project_id IN (SELECT id FROM project WHERE user_id = ? UNION SELECT id FROM project_archive WHERE user_id = ?)"
		for _, table := range []struct {
			name, query string
			args        []any
			want        map[string]string
		}{
			{"project", "SELECT id, CONCAT('false ', name) FROM project WHERE user_id = ? UNION ALL SELECT id, CONCAT('true ', name) FROM project_archive WHERE user_id = ?", []any{t.id, t.id}, want},
			{"screen", "SELECT id, CONCAT_WS(' ', 'false', size, client_filename) FROM screen" + below + " UNION ALL SELECT id, CONCAT_WS(' ', 'true', size, client_filename) FROM screen_archive" + below, []any{t.id, t.id, t.id, t.id}, screens},
			{"comment", "SELECT screen_id, body FROM comment WHERE screen_id IN (SELECT id FROM screen" + below + " UNION SELECT id FROM screen_archive" + below + ") ORDER BY id", []any{t.id, t.id, t.id, t.id}, comments},
		} {
			got, err := read(ctx, db, table.query, table.args...)
			if errs = append(errs, err); err == nil {
				compare(w.found, fmt.Sprintf("projects, %s of user %d", table.name, t.id), table.want, got)
			}
		}
	}
	return errors.Join(errs...)
}

// asUUID shows a column of 16 bytes as the answers do.
func asUUID(column string) string {
	return "LOWER(INSERT(INSERT(INSERT(INSERT(HEX(" + column + "), 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-'))"
}

// judgeFiles holds the files that a desk's attachments name against what was sent.
func (w *world) judgeFiles(ctx context.Context, d *desk) error {
	query := "SELECT " + asUUID("id") + ", COALESCE(file, '') FROM attachments"
	names, err := read(ctx, w.dbs["helpdesk"], query+" UNION ALL "+query+"_archive")
	if err != nil {
		return err
	}
	for id, a := range d.attachments {
		text, err := os.ReadFile(filepath.Join(w.dir, "helpdesk-data", filepath.Base(names[id])))
		if err != nil || !bytes.Equal(text, a.text) {
			w.found.Add(brokenFile, "tenant %d, attachment %s, file %q: %.100q, not %.100q, %v", d.tenant, id, names[id], text, a.text, err)
		}
	}
	return nil
}

func (w *world) judgeDesks(ctx context.Context) error {
	db, errs := w.dbs["helpdesk"], []error{}
	for _, d := range w.desks {
		if d.lost {
			w.found.Add(brokenNone, "tenant %d: what was done cannot be judged, for an answer is lost", d.tenant)
			continue
		}
		tickets, messages, files := map[string]string{}, map[string]string{}, map[string]string{}
		for id, t := range d.tickets {
			tickets[id] = fmt.Sprintf("%s %s %s %s", t.state, t.status, t.requester, t.subject)
			if bodies := slices.Sorted(maps.Values(t.messages)); len(bodies) > 0 {
				messages[id] = strings.Join(bodies, "\n")
			}
		}
		for id, a := range d.attachments {
			files[id] = fmt.Sprintf("%s %d %s", a.ticket, len(a.text), a.name)
		}
		errs = append(errs, w.judgeFiles(ctx, d))
		ours := " AND subject LIKE '" + d.mark + "%'"
		fresh := "(SELECT id FROM tickets WHERE tenant_id = ?" + ours + " UNION SELECT id FROM tickets_archive WHERE tenant_id = ?" + ours + ")"
		row := func(state, table string) string {
			return "SELECT " + asUUID("id") + ", CONCAT_WS(' ', '" + state + "', status, CONVERT(requester USING utf8mb4), CONVERT(subject USING utf8mb4)) FROM " + table + " WHERE tenant_id = ?" + ours
		}
		file := "SELECT " + asUUID("id") + ", CONCAT_WS(' ', " + asUUID("ticket_id") + ", bytes, name) FROM attachments"
		for _, table := range []struct {
			name, query string
			n           int
			want        map[string]string
		}{
			{"ticket", row("active", "tickets") + " UNION ALL " + row("archived", "tickets_archive"), 2, tickets},
			{"message", "SELECT " + asUUID("ticket_id") + ", body FROM messages WHERE ticket_id IN " + fresh + " ORDER BY CAST(body AS BINARY)", 2, messages},
			{"attachment", file + " WHERE ticket_id IN " + fresh + " UNION ALL " + strings.Replace(file, "attachments", "attachments_archive", 1) + " WHERE ticket_id IN " + fresh, 4, files},
		} {
			args := make([]any, table.n)
			for i := range args {
				args[i] = d.tenant
			}
			got, err := read(ctx, db, table.query, args...)
			if errs = append(errs, err); err == nil {
				compare(w.found, fmt.Sprintf("helpdesk, %s of tenant %d", table.name, d.tenant), table.want, got)
			}
		}
	}
	return errors.Join(errs...)
}

// judgeOrders also counts what the bank has charged: each paid order once.
func (w *world) judgeOrders(ctx context.Context) error {
	db, errs, paid := w.dbs["orders"], []error{}, 0
	for _, o := range w.customers {
		orders, carts := map[string]string{}, map[string]string{}
		for id, one := range o.orders {
			orders[fmt.Sprint(id)] = fmt.Sprintf("%s %d %s", one.status, one.amount, one.item)
			if one.status == "paid" {
				paid++
			}
		}
		for id := range o.carts {
			carts[fmt.Sprint(id)] = fmt.Sprint(len(o.carts[id]))
		}
		got, err := read(ctx, db, "SELECT id, CONCAT_WS(' ', status, amount, item) FROM customer_order WHERE tenant = ?", o.name)
		if errs = append(errs, err); err == nil {
			compare(w.found, "orders, customer_order of "+o.name, orders, got)
		}
		got, err = read(ctx, db, "SELECT id, JSON_LENGTH(items) FROM cart WHERE tenant = ?", o.name)
		if errs = append(errs, err); err == nil {
			compare(w.found, "orders, cart of "+o.name, carts, got)
		}
	}
	var charged int
	err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM bank_charge").Scan(&charged)
	if err == nil && charged != paid {
		w.found.Add(brokenExtra, "the bank has %d charges, and %d orders are paid", charged, paid)
	}
	return errors.Join(append(errs, err)...)
}

// judgeEvil looks in every table for what was refused, and for what an operator did, so that it is known that
// it would be seen.
func (w *world) judgeEvil(ctx context.Context) error {
	good := 0
	for name, db := range w.dbs {
		tables, err := read(ctx, db, "SELECT table_name, '' FROM information_schema.tables WHERE table_schema = ?", name)
		if err != nil {
			return err
		}
		for table := range tables {
			text, err := dump(ctx, db, table)
			if err != nil {
				return err
			}
			words := []string{smuggled}
			for _, o := range w.operators {
				words = append(words, o.evil)
				if contains(text, o.good) {
					good++
				}
			}
			for _, word := range words {
				if contains(text, word) {
					w.found.Add(brokenEvil, "%q in %s.%s", word, name, table)
				}
			}
		}
	}
	did := 0
	for _, o := range w.operators {
		did += o.did
	}
	fmt.Printf("   %d posts of the operator were taken, and are seen in %d tables\n", did, good)
	if good == 0 && did > 20 {
		return errors.New("soak: nothing that the operator did is in any table, so nothing that was refused would be seen")
	}
	return nil
}

// dump is all that a table has, one value behind the other.
func dump(ctx context.Context, db *sql.DB, table string) ([]byte, error) {
	var text bytes.Buffer
	err := onerow.Query(ctx, db, "SELECT * FROM "+ident.Quote(table), nil, func(rows *sql.Rows) error { //nolint:gosec // as the catalog has it
		columns, err := rows.Columns()
		if err != nil {
			return err //nolint:wrapcheck // it says all
		}
		values, dest := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
		for i := range values {
			dest[i] = &values[i]
		}
		err = rows.Scan(dest...)
		for _, v := range values {
			text.Write(v)
			text.WriteByte(0)
		}
		return err //nolint:wrapcheck // it says all
	})
	if err != nil {
		return nil, fmt.Errorf("soak: %w: %s", err, table)
	}
	return text.Bytes(), nil
}
