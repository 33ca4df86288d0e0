package admin

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/internal/foresttest"
	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/internal/dbtext"
)

func TestPause(t *testing.T) {
	foresttest.Each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		want := func(on bool, reason string) PauseState {
			t.Helper()
			state, err := Paused(ctx, db)
			if err != nil || state.On != on || state.Reason != reason || on && time.Since(state.Since).Abs() > time.Minute {
				t.Errorf("%+v, %v", state, err)
			}
			return state
		}
		want(false, "")
		for range 2 {
			if err := Resume(ctx, db, ""); err != nil {
				t.Fatal(err)
			}
		}
		if err := Pause(ctx, db, "", "backup"); err != nil {
			t.Fatal(err)
		}
		since := want(true, "backup").Since
		if err := Pause(ctx, db, "", strings.Repeat("ä", 300)); err != nil {
			t.Fatal(err)
		}
		if again := want(true, dbtext.Fit(strings.Repeat("ä", 300), governor.MaxReason)).Since; !again.Equal(since) {
			t.Errorf("paused since %s, then since %s", since, again)
		}
		if err := Resume(ctx, db, ""); err != nil {
			t.Fatal(err)
		}
		want(false, "")
		if err := Pause(ctx, db, "", ""); err != nil {
			t.Fatal(err)
		}
		if later := want(true, "").Since; !later.After(since) {
			t.Errorf("paused anew since %s, before since %s", later, since)
		}
	})
}
