package page

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/onerow/onerow/schema"
)

// Options are what a [Page] shows, where, and to whom. DB and Plan are required.
type Options struct {
	DB   *sql.DB
	Plan schema.Plan
	// Name is whose page this is; a worker of that name is shown as this one. It is the host's by default.
	Name string
	// Database says where the rows are, to the people who look.
	Database string
	// Prefix is what [http.StripPrefix] takes off before the page gets a request, as in "/onerow"; "":
	// nothing.
	Prefix string
	// Tokens let people and programs in: by its secret, who acts with a token, or "" for nobody in
	// particular. Without any, everybody may look, and nobody may press a button unless Local says so.
	Tokens map[string]string
	// Local says that nobody but this machine can reach the page.
	Local bool
	// Log is slog.Default by default.
	Log *slog.Logger
	// Metrics answers GET /metrics, with a token where there are tokens. By default nothing is there.
	Metrics http.Handler
	// CountBudget is how long a count of what is left of a job may take that nobody has asked for: 2 minutes
	// by default.
	CountBudget time.Duration
}

func (o *Options) check() error {
	switch {
	case o.DB == nil:
		return errors.New("page: DB is nil")
	case o.Prefix != "" && (!strings.HasPrefix(o.Prefix, "/") || strings.HasSuffix(o.Prefix, "/") || localPath(o.Prefix) != o.Prefix):
		return fmt.Errorf("page: Prefix is %q; it should be like /onerow", o.Prefix)
	}
	if name, empty := o.Tokens[""]; empty {
		return fmt.Errorf("page: the token of %q has no secret", name)
	}
	if err := o.Plan.Check(); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	host, _ := os.Hostname() //nolint:errcheck // the next line says so
	o.Name, o.Log, o.CountBudget = cmp.Or(o.Name, host, "unknown host"), cmp.Or(o.Log, slog.Default()), cmp.Or(o.CountBudget, thoroughTime)
	return nil
}
