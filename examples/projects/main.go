// Command projects is the example application: users with plans, their projects,
// the screens of a project with files, comments on screens. It shows the whole way
// through the toolkit on a real server.
//
//	projects [-addr 127.0.0.1:8080] [-dsn DSN] [-data .data]
//
// make demo starts it on a server of its own. Without -dsn it uses the database in ONEROW_DSN. When
// it serves requests it prints "listening on http://…" on standard output; everything else goes to standard
// error. SIGTERM and Ctrl-C stop it cleanly, a second Ctrl-C at once.
//
// It has no accounts with passwords: anybody who reaches its address may do everything.
// It is an example, and listens on the loopback interface.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/onerow/onerow/examples/internal/connect"
	"github.com/onerow/onerow/examples/projects/internal/app"
)

func main() { os.Exit(connect.Command("projects", declare)) }

// declare declares the flags, and returns what runs when they are read.
func declare(flags *flag.FlagSet) func(context.Context) error {
	c := app.Config{Out: os.Stdout}
	logFrom := c.Declare(flags, "127.0.0.1:8080")
	flags.StringVar(&c.Data, "data", ".data", "`folder` of the files")
	maxUpload := flags.Int64("max-upload", 32, "largest file, in MiB")
	flags.DurationVar(&c.Grace, "grace", 15*time.Second, "how long the pages let a deletion be undone")
	flags.IntVar(&c.Batch, "batch", 0, "the cascade's `rows` per transaction without anything below (default 1000)")
	flags.IntVar(&c.Chunk, "chunk", 0, "the cascade's `rows` per transaction with something below or a file (default 500)")
	flags.DurationVar(&c.Lease, "lease", 0, "how long a cascade rests after its worker was killed (default 10s)")
	flags.DurationVar(&c.Poll, "poll", 250*time.Millisecond, "how often the idle worker looks for deletions")
	return func(ctx context.Context) error {
		switch {
		case *maxUpload < 1 || *maxUpload > 1<<20:
			return fmt.Errorf("-max-upload must be 1 to %d MiB (%w)", 1<<20, connect.ErrUsage)
		case c.Batch < 0 || c.Chunk < 0 || c.Lease < 0 || c.Poll < 0:
			return fmt.Errorf("-batch, -chunk, -lease and -poll cannot be negative (%w)", connect.ErrUsage)
		case c.Grace < 0 || c.Grace > 24*time.Hour:
			return fmt.Errorf("-grace must be 0s to 24h (%w)", connect.ErrUsage)
		}
		c.MaxUpload = *maxUpload << 20
		logFrom(slog.LevelInfo)
		return connect.UnlessStopped(ctx, app.Run(ctx, c)) // perhaps while it started
	}
}
