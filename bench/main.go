// Command bench measures the toolkit beside what people would pick instead: the same statements by hand,
// Redis, River on PostgreSQL, asynq, pt-archiver.
//
//	make bench-peers                          # everything, on MariaDB and MySQL
//	cd bench && go run . --help
//
// Servers are private and durable, as after installation. Of each work the ways take turns: every round
// measures each of them for the same time, or with as many jobs, and the next round begins with another
// one. The report has medians of the rounds. The ratio is that to the work's first way, which is what the
// database does alone.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// options are the command's flags.
type options struct {
	Server  []string      `placeholder:"PROGRAM" help:"A server program, mariadbd or mysqld; may be repeated. Default: the one that is found."`
	Peers   string        `placeholder:"DIR" help:"The folder that scripts/get-peers prints. Without, they are left out, and it says so."`
	Only    string        `placeholder:"REGEXP" help:"Only works with such names: --only 'replay|serial'."`
	Rounds  int           `default:"3" help:"How many times each way is measured (3)."`
	Period  time.Duration `default:"2s" help:"How long, each time (2s)."`
	Network time.Duration `help:"Answers of the database and of Redis come so much later, as over a network with such a round trip: 500us."`
	Jobs    int           `default:"4000" help:"How many jobs a queue works, each time (4000)."`
	JSON    string        `name:"json" placeholder:"FILE" help:"Write the figures there, too."`
	SVG     string        `name:"svg" placeholder:"FILE" help:"Write a chart of the ratios there, too."`
	Spin    bool          `hidden:"" help:"Take a processor for 15 % of the time."`
	Tried   bool          `help:"Measure what was tried instead, which docs/results/tried.md tells of."`
	List    bool          `help:"Print the names of the works, and end."`
}

func main() {
	slog.SetLogLoggerLevel(slog.LevelError + 1) // a line for each job would be measured, too
	var o options
	parser := kong.Must(&o, kong.Name("bench"), kong.Description("Measures onerow beside the same work by hand and beside its peers."))
	_, err := parser.Parse(os.Args[1:])
	parser.FatalIfErrorf(err)
	if o.Spin {
		spin()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err = run(ctx, o)
	stop()
	parser.FatalIfErrorf(err)
}

func run(ctx context.Context, o options) (err error) {
	only, err := regexp.Compile(o.Only)
	switch {
	case err != nil:
		return fmt.Errorf("--only: %w", err)
	case o.Network < 0:
		return errors.New("--network is 0 or more")
	case o.Rounds < 1, o.Period < 100*time.Millisecond, o.Jobs < 100:
		return errors.New("--rounds is 1 or more, --period 100ms or more, --jobs 100 or more")
	}
	var chosen []work
	all := works
	if o.Tried {
		all = tried
	}
	for _, w := range all(o) {
		if only.MatchString(w.name) {
			chosen = append(chosen, w)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no work is called %q: see --list", o.Only)
	}
	if o.List {
		for _, w := range chosen {
			fmt.Println(w.name)
		}
		return nil
	}
	if o.Network > 0 {
		runtime.GOMAXPROCS(manyProcessors)
	}
	p, err := startPeers(ctx, o.Peers, newNetwork(o.Network))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if o.Peers == "" {
		fmt.Println("without Redis and PostgreSQL: see --peers")
	}
	servers := o.Server
	if len(servers) == 0 {
		servers = []string{""}
	}
	var reports []report
	for _, program := range servers {
		r, err := onServer(ctx, program, p, chosen, o)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	return errors.Join(writeJSON(o.JSON, reports), writeSVG(o.SVG, reports))
}
