package page_test

import (
	"context"
	"database/sql"
	"net/http"
	"os"

	"github.com/onerow/onerow/cascade/page"
	"github.com/onerow/onerow/schema"
)

// The page in the application's own mux, below /admin/jobs. A worker elsewhere does the work.
func ExampleNew() {
	serve := func(ctx context.Context, mux *http.ServeMux, db *sql.DB, plan schema.Plan) error {
		p, err := page.New(page.Options{
			DB: db, Plan: plan,
			Database: "shop, production",
			Prefix:   "/admin/jobs",
			Tokens:   map[string]string{os.Getenv("ANNS_TOKEN"): "ann", os.Getenv("BOBS_TOKEN"): "bob"},
		})
		if err != nil {
			return err
		}
		mux.Handle("/admin/jobs/", http.StripPrefix("/admin/jobs", p))
		go p.Run(ctx) // counts what is left of jobs, and does the restores that were asked for
		return nil
	}
	_ = serve
}
