// Command tutorial is the box office of docs/TUTORIAL.md: shows, tickets, and a worker in the same binary.
//
//	go run -C examples ./tutorial 'user:password@tcp(127.0.0.1:3306)/office' setup    makes the tables
//	go run -C examples ./tutorial 'user:password@tcp(127.0.0.1:3306)/office'          serves
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/schema/live"
)

const address = "127.0.0.1:8082"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tutorial:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(args) == 0 || len(args) > 2 || len(args) == 2 && args[1] != "setup" {
		return errors.New("usage: tutorial 'user:password@tcp(127.0.0.1:3306)/office' [setup]")
	}
	db, err := pool.Open(args[0])
	if err != nil {
		return err
	}
	if len(args) == 2 {
		err = setUp(ctx, db)
	} else {
		err = serve(ctx, db)
	}
	return errors.Join(err, db.Close())
}

// serve runs the web server and the worker until ctx ends.
func serve(ctx context.Context, db *sql.DB) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	office, err := newOffice()
	if err != nil {
		return err
	}
	handler, err := office.handler(db)
	if err != nil {
		return err
	}
	if err := live.Verify(ctx, db, plan); err != nil {
		return err // how the tables differ from the plan, and the statements that mend it
	}
	worker, err := cascade.NewWorker(db, plan, cascade.Config{})
	if err != nil {
		return err
	}
	server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second}
	done := make(chan error, 2)
	go func() { done <- worker.Run(ctx) }() // deletes what is below deleted shows
	go func() { done <- server.ListenAndServe() }()
	fmt.Println("the box office is open: http://" + address)
	go func() { // whoever ends first ends the other
		<-ctx.Done()
		done <- server.Shutdown(context.WithoutCancel(ctx))
	}()
	for range 3 {
		if ended := <-done; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		stop()
	}
	return err
}
