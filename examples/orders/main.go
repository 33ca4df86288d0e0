// Command orders is the example of idempotency keys and flows: an order API that charges through an HTTP
// payment service which fails, times out and answers late, and the validation of a cart that waits for
// another system's answer.
//
//	orders [-dsn DSN]                                   tells two stories on a database of its own, prints each step, and ends
//	orders -serve [-addr 127.0.0.1:8081] [-dsn DSN]     serves the API until SIGTERM or Ctrl-C
//
// make demo DEMO=orders starts it on a server of its own (ARGS=-serve). Without -dsn it uses the server that
// ONEROW_DSN names. It is an example: its two customers have the API keys sk_ada and sk_bob, and it listens
// on the loopback interface. See internal/shop for the API and internal/bank for what the cards do; with
// -serve:
//
//	curl -i localhost:8081/orders -H 'Authorization: Bearer sk_ada' -H 'Idempotency-Key: 1' -d item=shoe -d amount=5990 -d card=ok
package main

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"time"

	"github.com/onerow/onerow/examples/internal/connect"
	"github.com/onerow/onerow/examples/orders/internal/app"
)

func main() { os.Exit(connect.Command("orders", declare)) }

// declare declares the flags, and returns what runs when they are read.
func declare(flags *flag.FlagSet) func(context.Context) error {
	c := app.Config{ChargeTime: 10 * time.Second, Out: os.Stdout}
	logFrom := c.Declare(flags, "127.0.0.1:8081")
	flags.BoolVar(&c.Serve, "serve", false, "serve the API instead of telling the stories")
	return func(ctx context.Context) error {
		logFrom(slog.LevelError + 1) // nothing: what goes wrong in the stories does so on purpose
		if c.Serve {
			logFrom(slog.LevelInfo)
		}
		return connect.UnlessStopped(ctx, app.Run(ctx, c))
	}
}
