// Package records has the commands about what other packages than cascade have stored: keys of idempotency,
// series of numbers.
//
// Open this package when a command about keys or serial numbers changes.
package records

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
)

// Keys looks at idempotency keys and acts on them.
type Keys struct {
	List     keysListCmd     `cmd:"" help:"List keys that wait for a human, failed, or are in progress."`
	Show     keysShowCmd     `cmd:"" help:"Show one key and what operators did to it."`
	Release  keysReleaseCmd  `cmd:"" help:"Free a key: its work was not done."`
	Complete keysCompleteCmd `cmd:"" help:"End a key with a result: its work was done."`
	Expire   keysExpireCmd   `cmd:"" help:"Make a finished key absent: its work may be done anew."`
}

type keysListCmd struct {
	Overdue    bool        `xor:"what" help:"In progress for longer than was expected."`
	Errored    bool        `xor:"what" help:"With an error that is marked for attention."`
	Failed     bool        `xor:"what" help:"With an error, marked or not."`
	InProgress bool        `xor:"what" help:"In progress, overdue or not."`
	JSON       bool        `name:"json" help:"Print a JSON array."`
	Limit      shell.Limit `default:"100" placeholder:"N" help:"How many keys at most (100)."`
}

// lists are what is to be listed, one after the other.
func (c *keysListCmd) lists() []keyadmin.ListOptions {
	overdue := keyadmin.ListOptions{Status: idempotency.InProgress, Waiting: true}
	errored := keyadmin.ListOptions{Status: idempotency.Failed, Waiting: true}
	switch {
	case c.Overdue:
		return []keyadmin.ListOptions{overdue}
	case c.Errored:
		return []keyadmin.ListOptions{errored}
	case c.Failed:
		return []keyadmin.ListOptions{{Status: idempotency.Failed}}
	case c.InProgress:
		return []keyadmin.ListOptions{{Status: idempotency.InProgress}}
	}
	return []keyadmin.ListOptions{overdue, errored}
}

func (c *keysListCmd) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	var entries []idempotency.Entry
	for _, what := range c.lists() {
		if len(entries) == int(c.Limit) {
			break
		}
		more, err := shell.ReadPages(c.Limit-shell.Limit(len(entries)), func(last idempotency.Entry, limit int) ([]idempotency.Entry, error) {
			what.After, what.Limit = last, limit
			return keyadmin.List(ctx, db, what)
		})
		if err != nil {
			return err
		}
		entries = append(entries, more...)
	}
	return shell.PrintList(a, c.JSON, entries, "no such keys", []string{"TENANT", "OPERATION", "ID", ">TOKEN", "STATUS", "NOTE", "SINCE", ">AGE", "HOLDER", "?ERROR"}, func(e idempotency.Entry) []string {
		return []string{ShellWord(e.Key.Tenant), ShellWord(e.Key.Operation), ShellWord(e.Key.ID), strconv.FormatInt(e.Token, 10), string(e.Status),
			remark(e), output.Moment(e.Since), briefly(e.Age), output.Shorten(output.Printable(e.Holder), 32), output.Shorten(output.OneLine(e.Error), 120)}
	})
}

// remark is what is remarkable about a key beside its status.
func remark(e idempotency.Entry) string {
	switch {
	case e.Expired:
		return "expired"
	case e.Overdue:
		return "overdue since " + output.Moment(e.ExpectedCompletion)
	case e.Attention:
		return "attention"
	case e.Status == idempotency.InProgress:
		return "expected " + output.Moment(e.ExpectedCompletion)
	}
	return "-"
}

// briefly is a duration to the second.
func briefly(d time.Duration) string { return d.Truncate(time.Second).String() }

// plainWord: no shell sees anything in these but letters.
const plainWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+,="

// ShellWord writes a part of a key so that it can be pasted into a command: as it is, in
// quotes, or with bash's escapes where it has bytes that a terminal cannot show.
func ShellWord(part string) string {
	switch {
	case part != "" && strings.Trim(part, plainWord) == "":
		return part
	case utf8.ValidString(part) && output.Printable(part) == part && !strings.ContainsFunc(part, func(r rune) bool { return r != ' ' && unicode.IsSpace(r) }):
		return "'" + strings.ReplaceAll(part, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for _, c := range []byte(part) {
		switch {
		case c == '\'' || c == '\\':
			b.WriteString(`\` + string(rune(c)))
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return "$'" + b.String() + "'"
}

type keysShowCmd struct {
	keyArgs
	JSON bool `name:"json" help:"Print a JSON object."`
}

// Shown is what keys show prints as JSON. Key is null when only the audit is left.
type Shown struct {
	Key   *idempotency.Entry `json:"key"`
	Audit []keyadmin.Audited `json:"audit"`
}

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
		if e.Traceparent != "" {
			lines = append(lines, []string{"trace", output.Printable(e.Traceparent)})
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
