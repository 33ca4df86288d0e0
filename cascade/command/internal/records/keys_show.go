package records

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
)

type keysShowCmd struct {
	keyArgs
	JSON bool `name:"json" help:"Print a JSON object."`
}

// Shown is what keys show prints as JSON. Key is null when only the audit is left.
type Shown struct {
	Key   *idempotency.Entry `json:"key"`
	Audit []keyadmin.Audited `json:"audit"`
}

// Run prints the key.
func (c *keysShowCmd) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	key := c.key()
	s := Shown{Audit: []keyadmin.Audited{}}
	switch entry, err := keyadmin.Find(ctx, db, key); {
	case err == nil:
		s.Key = &entry
	case !errors.Is(err, keyadmin.ErrNoKey):
		return err
	}
	audit, err := keyadmin.Audit(ctx, db, key)
	if err != nil {
		return err
	}
	s.Audit = append(s.Audit, audit...)
	switch {
	case s.Key == nil && len(audit) == 0:
		return errors.New("there is no such key: tenant, operation and id are compared byte by byte")
	case c.JSON:
		return shell.PrintJSON(a, s)
	}
	return s.print(a)
}

// print writes a line for each of the key's properties, then the audit.
func (s Shown) print(a *shell.App) error {
	lines := [][]string{{"key", "purged; only its audit is left"}}
	if e := s.Key; e != nil {
		lines = [][]string{
			{"key", ShellWord(e.Key.Tenant) + " " + ShellWord(e.Key.Operation) + " " + ShellWord(e.Key.ID)},
			{"token", strconv.FormatInt(e.Token, 10)},
			{"status", string(e.Status)},
			{"note", remark(*e)},
			{"holder", output.Printable(e.Holder)},
			{"since", output.Moment(e.Since) + " UTC, " + briefly(e.Age) + " ago"},
		}
		if !e.LeaseUntil.IsZero() {
			lines = append(lines, []string{"leased until", output.Moment(e.LeaseUntil) + " UTC"})
		}
		if !e.CompletedAt.IsZero() {
			lines = append(lines, []string{"ended", output.Moment(e.CompletedAt) + " UTC"})
		}
		switch {
		case !e.ExpiresAt.IsZero():
			lines = append(lines, []string{"answers until", output.Moment(e.ExpiresAt) + " UTC"})
		case !e.CompletedAt.IsZero():
			lines = append(lines, []string{"answers until", "for ever"})
		}
		if e.Error != "" {
			lines = append(lines, []string{"error", output.OneLine(e.Error)})
		}
	}
	if err := output.Table(a.Stdout, lines[0], lines[1:]); err != nil || len(s.Audit) == 0 {
		return err
	}
	if err := a.Say(""); err != nil {
		return err
	}
	return shell.PrintList(a, false, s.Audit, "", []string{"AT", "ACTION", ">TOKEN", "SAW", "BY", "REASON"}, func(d keyadmin.Audited) []string {
		return []string{output.Moment(d.At), d.Action, strconv.FormatInt(d.Token, 10), string(d.Seen), output.Shorten(output.Printable(d.Actor), 32), output.OneLine(d.Reason)}
	})
}
