package limit_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// Uploads of at most 100 bytes for each user: room is reserved while the bytes are on their way.
func Example() {
	ctx := context.Background()
	db, done := dbtest.ExampleDB(ctx) // pool.Open("user:password@tcp(host:3306)/app")
	defer done()

	type Upload struct {
		ID     int64 `db:"id"`
		UserID int64 `db:"user_id"`
		Bytes  int64 `db:"bytes"`
	}
	plan := schema.Plan{Resources: []schema.Resource{{
		Name: "upload", Owner: "user_id", Columns: []schema.Column{{Name: "bytes", Type: "BIGINT NOT NULL"}},
		Limits: []schema.Limit{{Sum: "bytes"}},
	}}}
	if err := migrations.Up(ctx, db); err != nil {
		log.Fatal(err)
	}
	for _, stmt := range append(plan.DDL(), "CREATE TABLE user (id BIGINT PRIMARY KEY, bytes BIGINT)", "INSERT INTO user VALUES (7, 100)") {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			log.Fatal(err)
		}
	}
	bytes, err := limit.New(plan, "upload.bytes", quota.LimitQuery("SELECT bytes FROM user WHERE id = ?"))
	if err != nil {
		log.Fatal(err)
	}
	uploads, err := repo.New[Upload](plan, "upload", bytes)
	if err != nil {
		log.Fatal(err)
	}

	if _, err := bytes.Reserve(ctx, db, "cat.mp4", 80, time.Hour, 7); err != nil {
		log.Fatal(err)
	}
	_, err = uploads.Create(ctx, db, Upload{UserID: 7, Bytes: 30})
	fmt.Println(errors.Is(err, limit.ErrLimit))
	var full *limit.Error
	if errors.As(err, &full) {
		fmt.Println(full)
	}
	_, err = uploads.Create(ctx, db, Upload{UserID: 7, Bytes: 70}, repo.UseReservation(bytes, "cat.mp4"))
	fmt.Println(err)
	_, err = uploads.Create(ctx, db, Upload{UserID: 7, Bytes: 30})
	fmt.Println(err)

	// Output:
	// true
	// limit "upload.bytes" of owner 7 reached: 80 of 100 in use, 30 more wanted (80 by reservations)
	// <nil>
	// <nil>
}
