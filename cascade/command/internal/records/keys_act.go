package records

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
)

// keyArgs name a key on the command line.
type keyArgs struct {
	Tenant    string `arg:"" help:"The key's tenant, \"\" for none."`
	Operation string `arg:"" help:"The key's operation."`
	ID        string `arg:"" name:"id" help:"The key's id."`
}

func (k keyArgs) key() idempotency.Key {
	return idempotency.Key{Tenant: k.Tenant, Operation: k.Operation, ID: k.ID}
}

// AfterApply refuses what cannot be a key.
func (k keyArgs) AfterApply() error {
	if err := k.key().Check(); err != nil {
		return usage.Errorf("a key has an operation and an id, and tenant, operation and id have at most %d bytes each", idempotency.MaxKey)
	}
	return nil
}

// actFlags are what an operator's verb needs: what was seen, who acts, and why.
type actFlags struct {
	Token  int64  `required:"" placeholder:"N" help:"The key's token, as keys list and keys show print it."`
	By     string `required:"" placeholder:"WHO" help:"Who acts, for the audit."`
	Reason string `required:"" placeholder:"TEXT" help:"Why, for the audit."`
}

// keyVerb is the key that an operator acts on, and what he says of it.
type keyVerb struct {
	keyArgs
	actFlags
}

// AfterApply refuses what is no key, or says too little for the audit.
func (f keyVerb) AfterApply() error {
	switch {
	case f.Token < 1:
		return usage.Errorf("--token is %d; it should be the number that keys show prints", f.Token)
	case f.By == "" || f.Reason == "":
		return usage.Errorf("--by and --reason are for the audit and cannot be empty")
	}
	return f.keyArgs.AfterApply()
}

// act runs an operator's verb and prints what it did; what is completed answers for keep.
func (f keyVerb) act(ctx context.Context, a *shell.App, db onerow.DB, keep time.Duration, status, told string,
	verb func(o *keyadmin.Operator, ctx context.Context, db onerow.DB, seen idempotency.Entry) error) error {
	keys, err := idempotency.New(idempotency.Config{Keep: keep})
	if err != nil {
		return err
	}
	operator, err := keyadmin.NewOperator(keys, f.By, f.Reason)
	if err != nil {
		return err
	}
	seen := idempotency.Entry{Key: f.key(), Token: f.Token, Status: idempotency.Status(status)}
	if err := verb(operator, ctx, db, seen); err != nil {
		return notDone(seen, err)
	}
	return a.Say("%s %s %s "+told, ShellWord(f.Tenant), ShellWord(f.Operation), ShellWord(f.ID), f.Token)
}

// notDone says why an operator's verb changed nothing, in the words of this program.
func notDone(was idempotency.Entry, err error) error {
	var changed *keyadmin.ChangedError
	switch {
	case errors.Is(err, onerow.ErrOutcomeUnknown):
		return fmt.Errorf("%w; the same command again is safe", err)
	case !errors.As(err, &changed):
		return err
	}
	is := changed.Now
	switch {
	case is.Token == 0:
		return errors.New("nothing was changed: there is no such key, or it is purged")
	case is.Token != was.Token:
		return fmt.Errorf("nothing was changed: the key's token is %d by now, not %d; look again with %s keys show", is.Token, was.Token, output.ProgramName)
	case is.Status != was.Status:
		return fmt.Errorf("nothing was changed: the key is %s, not %s; if that is right, say --status %s where the command takes it", is.Status, was.Status, is.Status)
	case is.Expired:
		return errors.New("nothing was changed: the key is expired already")
	}
	return fmt.Errorf("nothing was changed: that does not fit a key that is %s; look again with %s keys show", is.Status, output.ProgramName)
}

// openStatus is what release and complete act on.
type openStatus struct {
	Status string `enum:"in_progress,error" default:"in_progress" placeholder:"STATUS" help:"The status that you saw: in_progress (the default) or error."`
}

type keysReleaseCmd struct {
	keyVerb
	openStatus
}

func (c *keysReleaseCmd) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	return c.act(ctx, a, db, 0, c.Status, "is released, token %d: the next caller does the work", (*keyadmin.Operator).Release)
}

type keysCompleteCmd struct {
	keyVerb
	openStatus
	Result string        `required:"" placeholder:"JSON" help:"What came of the work, as JSON; null for nothing, - for standard input."`
	Keep   time.Duration `placeholder:"TIME" help:"For how long the key answers, as in 720h; for ever by default."`
}

// AfterApply refuses a time that has no sense.
func (c *keysCompleteCmd) AfterApply() error {
	if c.Keep < 0 {
		return usage.Errorf("--keep is %s; it should be a time like 720h", c.Keep)
	}
	return c.keyVerb.AfterApply()
}

func (c *keysCompleteCmd) Run(ctx context.Context, a *shell.App) error {
	if c.Result == "-" {
		text, err := io.ReadAll(a.Stdin)
		if err != nil {
			return fmt.Errorf("read the result from standard input: %w", err)
		}
		c.Result = string(text)
	}
	if c.Result = strings.TrimSpace(c.Result); !json.Valid([]byte(c.Result)) {
		return usage.Errorf(`--result is no JSON; text needs quotes inside the shell's: '"text"'`)
	}
	db, err := a.OpenMigrated(ctx)
	if err != nil {
		return err
	}
	err = c.act(ctx, a, db, c.Keep, c.Status, "is complete, token %d: the next callers get the result",
		func(o *keyadmin.Operator, ctx context.Context, db onerow.DB, seen idempotency.Entry) error {
			return o.Complete(ctx, db, seen, json.RawMessage(c.Result))
		})
	if errors.Is(err, idempotency.ErrTooLarge) {
		return usage.Errorf("--result has %s; that does not fit", output.Plural(len(c.Result), "byte"))
	}
	return err
}

type keysExpireCmd struct {
	keyVerb
	Status string `enum:"complete,error,released" default:"complete" placeholder:"STATUS" help:"The status that you saw: complete (the default), error or released."`
}

func (c *keysExpireCmd) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	return c.act(ctx, a, db, 0, c.Status, "is expired, token %d: the next caller does the work anew", (*keyadmin.Operator).Expire)
}
