// Module examples holds programs that show onerow at work. Each can be copied out of the tree.
module github.com/onerow/onerow/examples

go 1.26.0

replace github.com/onerow/onerow => ../

require github.com/onerow/onerow v0.0.0-00010101000000-000000000000

require (
	github.com/go-sql-driver/mysql v1.10.1
	github.com/google/go-cmp v0.7.0
	github.com/pressly/goose/v3 v3.28.0
	github.com/stripe/stripe-go/v76 v76.25.0
	golang.org/x/sync v0.24.0
)

require (
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/jmoiron/sqlx v1.4.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/go-json-experiment/json v1.27.2
	github.com/google/uuid v1.6.0
	github.com/mfridman/interpolate v0.0.2 // indirect
	github.com/sethvargo/go-retry v0.5.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
)
