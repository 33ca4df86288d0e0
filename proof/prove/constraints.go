package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/ordering"
	"github.com/onerow/onerow/repo"
)

const noIndex = "nothing of onerow can be built here: the unique index, or the count of rows that an UPDATE met, does not decide; ask the server's vendor"

var constraintChecks = []check{
	{
		name: "unique-index", promise: promiseNames, with: plain,
		what: "sixteen sessions insert one value into a unique index at once", fix: noIndex, run: uniqueIndex,
	},
	{
		name: "one-name", promise: promiseNames, with: opened,
		what: "sixteen callers create rows whose names differ by case and white space", fix: noIndex, run: oneName,
	},
	{
		name: "one-request", promise: promiseRequest, with: opened,
		what: "sixteen callers send one create", fix: noIndex, run: oneRequest,
	},
	{
		name: "key-bytes", promise: promiseKey, with: opened,
		what: "keys that differ by case, accents, a trailing space and emoji are used twice each",
		fix:  "compare the columns of onerow_key with migrations/ddl: they are VARBINARY, which has no collation", run: keyBytes,
	},
	{
		name: "conditional-update", promise: promiseNewer, with: plain,
		what: "sixteen sessions take one job by UPDATE … WHERE state = 'ready', and count the rows", fix: noIndex, run: conditionalUpdate,
	},
	{
		name: "newer-only", promise: promiseNewer, with: opened,
		what: "updates of a row come out of order and twice", fix: noIndex, run: newerOnly,
	},
}

const many = 16

// rounds are how often a race is run at most.
func (s *site) rounds() int {
	if s.short {
		return 10
	}
	return 100
}

// budget is the time after which no further round of a race begins.
func (s *site) budget() time.Duration {
	if s.short {
		return 1500 * time.Millisecond
	}
	return 8 * time.Second
}

// repeat runs a race once, and again while there is time for it.
func (s *site) repeat(race func(round int) error) (rounds int, err error) {
	until := time.Now().Add(s.budget())
	for rounds < s.rounds() && (rounds == 0 || time.Now().Before(until)) {
		if err := race(rounds); err != nil {
			return rounds, err
		}
		rounds++
	}
	return rounds, nil
}

// uniqueIndex: one of the inserts is answered with nil, all others with 1062, and there is one row.
func uniqueIndex(ctx context.Context, s *site) (string, error) {
	rounds, err := s.repeat(func(round int) error {
		name := fmt.Sprint("round ", round)
		won := 0
		for _, err := range together(many, func(i int) error {
			return byHand(ctx, s.plain, func(tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, `INSERT INTO prove_pick (name, who) VALUES (?, ?)`, name, i)
				return err
			})
		}) {
			switch {
			case err == nil:
				won++
			case mysqlerr.Classify(err) != mysqlerr.Duplicate:
				return err
			}
		}
		n, err := s.count(ctx, `SELECT COUNT(*) FROM prove_pick WHERE name = ?`, name)
		if err != nil {
			return err
		}
		if n != 1 || won != 1 {
			return fmt.Errorf("%d inserts of one value were accepted, and %d rows are there", won, n)
		}
		return nil
	})
	return fmt.Sprintf("one of %d wins, %d times", many, rounds), err
}

func oneName(ctx context.Context, s *site) (string, error) {
	k, err := newKit()
	if err != nil {
		return "", err
	}
	spellings := []string{"Email Campaign %d", "email campaign %d", "EMAIL  CAMPAIGN %d", " Email Campaign %d "}
	rounds, err := s.repeat(func(round int) error {
		won := 0
		for _, err := range together(many, func(i int) error {
			_, err := k.projects.Create(ctx, s.opened, project{UserID: owner, Name: fmt.Sprintf(spellings[i%len(spellings)], round)})
			return err
		}) {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, repo.ErrNameTaken):
				return err
			}
		}
		if won != 1 {
			return fmt.Errorf("%d callers of %d were given one name", won, many)
		}
		return nil
	})
	return fmt.Sprintf("one of %d has the name, %d times", many, rounds), err
}

func oneRequest(ctx context.Context, s *site) (string, error) {
	k, err := newKit()
	if err != nil {
		return "", err
	}
	rounds, err := s.repeat(func(round int) error {
		name := fmt.Sprint("request ", round)
		ids := make([]int64, many)
		for _, err := range together(many, func(i int) error {
			res, err := k.projects.Create(ctx, s.opened, project{UserID: owner, Name: name}, repo.RequestID(name))
			ids[i] = res.Row.ID
			return err
		}) {
			if err != nil {
				return err
			}
		}
		n, err := s.count(ctx, `SELECT COUNT(*) FROM project WHERE name = ?`, name)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if n != 1 || id != ids[0] {
				return fmt.Errorf("a request that was sent %d times made %d rows; the answers have the ids %d", many, n, ids)
			}
		}
		return nil
	})
	return fmt.Sprintf("one row for %d calls, %d times", many, rounds), err
}

// keyBytes also tells what the server's own default does with such texts.
func keyBytes(ctx context.Context, s *site) (string, error) {
	k, err := newKit()
	if err != nil {
		return "", err
	}
	ids := []string{"a", "A", "á", "a ", "ß", "ss", "e\u0301", "é", "\U0001F600", "\U0001F601"}
	for i := range 2 * len(ids) {
		id := ids[i%len(ids)]
		out, err := idempotency.Do(ctx, s.opened, k.keys, idempotency.Key{Operation: "bytes", ID: id}, func(context.Context, *onerow.Tx) (string, error) { return id, nil })
		switch {
		case err != nil:
			return "", err
		case out.Row != id || out.Replayed != (i >= len(ids)):
			return "", fmt.Errorf("the key %q was answered with the result of %q", id, out.Row)
		}
	}
	seen := map[string]bool{}
	for _, id := range ids {
		if err := s.run(ctx, `DELETE FROM prove_text`); err != nil {
			return "", err
		}
		if _, err := s.work.ExecContext(ctx, `INSERT INTO prove_text (text) VALUES (?)`, id); err != nil {
			seen[id+": "+message(err)] = true // a character set that lacks it
			continue
		}
		for _, other := range ids {
			n, err := s.count(ctx, `SELECT COUNT(*) FROM prove_text WHERE text = ?`, other)
			if err == nil && n > 0 && other < id {
				seen[fmt.Sprintf("%q = %q", other, id)] = true
			}
		}
	}
	if len(seen) > 0 {
		s.note("texts that are equal", fmt.Sprintf("%d pairs of %d texts, in a column without a collation of its own", len(seen), len(ids)),
			"a unique index of your own needs a collation that says what you mean; the toolkit's tables say theirs")
	}
	return fmt.Sprintf("%d keys, each its own", len(ids)), nil
}

func conditionalUpdate(ctx context.Context, s *site) (string, error) {
	rounds, err := s.repeat(func(round int) error {
		if _, err := s.work.ExecContext(ctx, `INSERT INTO prove_job (id, state) VALUES (?, 'ready')`, round); err != nil {
			return err
		}
		met := make([]int64, many)
		for _, err := range together(many, func(i int) error {
			return byHand(ctx, s.plain, func(tx *sql.Tx) error {
				res, err := tx.ExecContext(ctx, `UPDATE prove_job SET state = 'taken', who = ? WHERE id = ? AND state = 'ready'`, i, round)
				if err == nil {
					met[i], err = res.RowsAffected()
				}
				return err
			})
		}) {
			if err != nil {
				return err
			}
		}
		won := int64(0)
		for _, n := range met {
			won += n
		}
		if won != 1 {
			return fmt.Errorf("%d of %d sessions were told that they took the job", won, many)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	res, err := s.plain.ExecContext(ctx, `UPDATE prove_job SET state = 'taken' WHERE id = 0`)
	if err != nil {
		return "", err
	}
	n, err := res.RowsAffected()
	s.note("an UPDATE that changes nothing", fmt.Sprintf("counts %d rows", n),
		"0 is the server's own way, 1 that of clientFoundRows=true in the DSN; the toolkit decides by neither")
	return fmt.Sprintf("one of %d takes it, %d times", many, rounds), err
}

func newerOnly(ctx context.Context, s *site) (string, error) {
	guard := ordering.ByTime{Table: "prove_newer", ID: "id", At: "changed_at"}
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, second := range []int{2, 1, 2, 3, 2} {
		text := fmt.Sprint("second ", second)
		if _, err := guard.Update(ctx, s.opened, 1, noon.Add(time.Duration(second)*time.Second), ordering.Change{Set: map[string]any{"text": text}}); err != nil {
			return "", err
		}
	}
	n, err := s.count(ctx, `SELECT COUNT(*) FROM prove_newer WHERE text = 'second 3'`)
	if err == nil && n != 1 {
		err = errors.New("an older update has overwritten a newer one")
	}
	return "the last one of five stays", err
}
