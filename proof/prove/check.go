package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/onerow/onerow/pool"
)

// check tries one promise in one way.
type check struct {
	// name is for -only, and what tests plant against.
	name string
	// promise are the first words of a row of docs/GUARANTEES.md.
	promise string
	// with says which sessions it is tried with.
	with sessions
	// what is done, in a few words.
	what string
	// fix says what to change where it does not hold. An error may say it better.
	fix string
	// run returns what was seen. An error: the promise does not hold, or it could not be tried.
	run func(ctx context.Context, s *site) (seen string, err error)
}

// sessions are those of a kind of pool.
type sessions string

const (
	plain  sessions = "plain"     // the driver alone, with the operator's DSN
	opened sessions = "pool.Open" // what the toolkit recommends
)

// verdict is what became of a check.
type verdict string

const (
	holds verdict = "holds"
	falls verdict = "does not hold"
	// left is a check that has nothing to be tried with, and untried one that should have been.
	left    verdict = "not asked"
	untried verdict = "not tried"
)

// result is a check's, for people and machines.
type result struct {
	Name    string   `json:"check"`
	Promise string   `json:"promise"`
	With    sessions `json:"with"`
	What    string   `json:"what"`
	Verdict verdict  `json:"verdict"`
	Seen    string   `json:"seen,omitempty"`
	Fix     string   `json:"change,omitempty"`
	Millis  int64    `json:"milliseconds"`
}

// fact is what a server does that is no promise of the toolkit's.
type fact struct {
	Name string `json:"fact"`
	Is   string `json:"is"`
	So   string `json:"so"`
}

// notTried is the error of a check that could not be tried; asked is false where its flag is not given.
type notTried struct {
	why   string
	asked bool
}

func (e *notTried) Error() string { return e.why }

// fall is a promise that does not hold, with a better fix than the check's.
type fall struct{ what, fix string }

func (e *fall) Error() string { return e.what }

// The longest that a check, and all of them, may take.
const (
	longestShort, allShort = 25 * time.Second, 54 * time.Second
	longestFull, allFull   = 3 * time.Minute, 9*time.Minute + 30*time.Second
)

// judge tries the checks one after the other, with a line for each. An error: it was interrupted.
func (s *site) judge(ctx context.Context, chosen []check, progress io.Writer) ([]result, error) {
	all := allFull
	if s.short {
		all = allShort
	}
	if s.all > 0 {
		all = s.all
	}
	timed, cancel := context.WithTimeout(ctx, all-time.Since(s.began))
	defer cancel()
	var results []result
	for _, c := range chosen {
		r := s.try(timed, c)
		if ctx.Err() != nil {
			return nil, errors.New("interrupted")
		}
		results = append(results, r)
		text := string(r.Verdict)
		if r.Seen != "" {
			text += ": " + r.Seen
		}
		say(progress, "%-22s %6.1fs  %s\n", r.Name, float64(r.Millis)/1000, text)
	}
	return results, nil
}

// try gives a check its time, and sorts what it says.
func (s *site) try(all context.Context, c check) result {
	r := result{Name: c.name, Promise: c.promise, With: c.with, What: c.what}
	longest := longestFull
	if s.short {
		longest = longestShort
	}
	longest = max(longest, s.all)
	ctx, cancel := context.WithTimeout(all, longest)
	defer cancel()
	begin := time.Now()
	seen, err := s.guarded(ctx, c)
	r.Millis = time.Since(begin).Milliseconds()
	var not *notTried
	var fell *fall
	switch {
	case err == nil:
		r.Verdict, r.Seen = holds, seen
	case errors.As(err, &not):
		r.Verdict, r.Seen = untried, not.why
		if !not.asked {
			r.Verdict = left
		}
	case all.Err() != nil:
		r.Verdict, r.Seen = untried, "no time was left"
	case ctx.Err() != nil:
		r.Verdict, r.Seen = untried, fmt.Sprintf("it had not ended after %v", longest)
	case lacksRight(err):
		r.Verdict, r.Seen, r.Fix = untried, "a right is missing: "+message(err), "grant it; -grants prints what is needed"
	default:
		r.Verdict, r.Fix = falls, c.fix
		r.Seen, _, _ = strings.Cut(err.Error(), "\n") // an exploration shows tables below
		if errors.As(err, &fell) && fell.fix != "" {
			r.Fix = fell.fix
		}
	}
	return r
}

// guarded takes a panic for an error, so that the database is dropped and the others are tried.
func (s *site) guarded(ctx context.Context, c check) (seen string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &notTried{fmt.Sprintf("panic: %v", p), true}
		}
	}()
	if c.with == opened && s.opened == nil {
		return "", &notTried{"pool.Open refuses the data source name: " + s.refused.Error(), true}
	}
	return c.run(ctx, s)
}

// refusal makes a fall of what pool.Check or pool.Open says of a setting.
func refusal(err error) error {
	var setting *pool.SettingError
	if errors.As(err, &setting) {
		return &fall{fmt.Sprintf("%s is %q: %s", setting.Setting, setting.Value, setting.Why), setting.Fix}
	}
	return err
}
