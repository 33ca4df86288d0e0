package main

import (
	"context"
	"flag"
	"io"
	"os"

	"github.com/onerow/onerow/examples/internal/demo"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("runners", flag.ContinueOnError)
	seed := flags.Uint64("seed", 1, "another `number` makes another day, other deliveries and other deaths")
	return demo.Main(flags, args, stdout, stderr, func(ctx context.Context, d *demo.Database, page *demo.Page) error {
		return play(ctx, d, page, *seed)
	})
}
