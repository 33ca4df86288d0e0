// Command feed is the load generator of the projects example, and an example of an honest client. It turns a
// folder tree into projects and screens through the application's JSON API: each folder becomes a project,
// named by its path below the root, and each file a screen.
//
//		go run -C proof ./feed DIR [-addr URL] [-user N]            creates what is missing
//		go run -C proof ./feed DIR -delete [-addr URL] [-user N]    deletes it, and waits until the last row is gone
//
//	  - A request without an answer, or with 502 to 504, is sent again after Retry-After; the creation of a project
//	    keeps its Idempotency-Key.
//	  - An existing project is found by the existing_id of the 409, so a second run creates nothing but one more
//	    version of each file.
//	  - What the application refuses (a name, a size) is counted and listed. Only what fails in spite of all is an
//	    error: exit code 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "feed:", err)
		os.Exit(exitUsage)
	}
	if err := run(ctx, c); err != nil {
		fmt.Fprintln(os.Stderr, "feed:", err)
		os.Exit(exitFailed)
	}
}

// parse reads the command line; flags may stand before and after the folder.
func parse(args []string) (config, error) {
	var c config
	flags := flag.NewFlagSet("feed", flag.ExitOnError)
	flags.StringVar(&c.addr, "addr", "http://127.0.0.1:8080", "`URL` of the running application")
	flags.Int64Var(&c.user, "user", 0, "`id` of the user who gets the projects; default: the first one named \"load\", created if missing")
	flags.BoolVar(&c.delete, "delete", false, "delete the projects of the tree")
	flags.IntVar(&c.parallel, "parallel", 8, "how many requests at once")
	var dirs []string
	for ; len(args) > 0; args = flags.Args() {
		if !strings.HasPrefix(args[0], "-") {
			dirs, args = append(dirs, args[0]), args[1:]
		}
		if err := flags.Parse(args); err != nil {
			return c, err
		}
	}
	switch {
	case len(dirs) != 1:
		return c, fmt.Errorf("one folder is loaded, there are %d", len(dirs))
	case c.parallel < 1 || c.parallel > 256:
		return c, errors.New("-parallel must be 1 to 256")
	}
	c.dir = dirs[0]
	return c, nil
}
