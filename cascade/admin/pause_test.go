package admin

import (
	"database/sql"
	"errors"
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

// TestPauseBesideSettings: a resource and a worker may have one name, and neither takes the other's back.
func TestPauseBesideSettings(t *testing.T) {
	foresttest.Each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		both := func(paused, told int) {
			t.Helper()
			resources, err := PausedResources(ctx, db)
			settings, serr := ReadSettings(ctx, db)
			if err = errors.Join(err, serr); err != nil || len(resources) != paused || len(settings) != told {
				t.Errorf("%v paused, %v told, %v; want %d and %d", resources, settings, err, paused, told)
			}
		}
		set := func(load float64) error { return Set(ctx, db, Settings{Worker: "project", Load: load}) }
		if err := errors.Join(Pause(ctx, db, "project", "why"), set(0.5)); err != nil {
			t.Fatal(err)
		}
		both(1, 1)
		if err := Resume(ctx, db, "project"); err != nil {
			t.Fatal(err)
		}
		both(0, 1)
		if err := errors.Join(Pause(ctx, db, "project", "why"), set(0)); err != nil {
			t.Fatal(err)
		}
		both(1, 0)
	})
}
