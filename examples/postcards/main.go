package main

import (
	"flag"
	"io"
	"os"

	"github.com/onerow/onerow/examples/internal/demo"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	return demo.Main(flag.NewFlagSet("postcards", flag.ContinueOnError), args, stdout, stderr, play)
}
