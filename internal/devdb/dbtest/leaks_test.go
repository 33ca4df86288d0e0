package dbtest

import (
	"database/sql"
	"strings"
	"testing"
	"time"
)

// TestLeaksAreFound: a goroutine and a session that stay are told of, and no longer when they end.
func TestLeaksAreFound(t *testing.T) {
	Server(t) // whose goroutines last as long as the package's tests
	before := goroutines()
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		<-end
		close(ended)
	}()
	if err := strayGoroutines(before, 0); err == nil || !strings.Contains(err.Error(), "TestLeaksAreFound") {
		t.Errorf("a goroutine that stays: %v", err)
	}
	close(end)
	<-ended

	db, err := sql.Open("mysql", DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := straySessions(t.Context(), Server(t), 0); err == nil || !strings.Contains(err.Error(), "onerow_t_") {
		t.Errorf("a session that stays: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := straySessions(t.Context(), Server(t), time.Minute); err != nil {
		t.Error(err)
	}
	if err := strayGoroutines(before, time.Minute); err != nil {
		t.Error(err)
	}
}
