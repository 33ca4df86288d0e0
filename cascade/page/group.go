package page

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/repo"
)

// Errors are equal if they differ in numbers and in quoted values only; the server's own number counts.
var (
	details  = regexp.MustCompile(`Error \d+ \(\w+\)|'[^']*'|"[^"]*"|\d+`)
	maxEqual = 1000 // that one button retries or skips
)

// digest is the name of all that has failed in the same way.
func digest(kind, text string) string {
	text = details.ReplaceAllStringFunc(output.OneLine(text), func(found string) string {
		if strings.HasPrefix(found, "Error") {
			return found
		}
		return "…"
	})
	sum := sha256.Sum256([]byte(kind + "\x00" + text))
	return hex.EncodeToString(sum[:8])
}

func jobDigest(j queue.Job) string {
	return digest("job "+j.Resource+" "+string(j.State), j.LastError)
}
func rowDigest(r queue.Parked) string { return digest("row "+r.Table, r.Error) }

// groups puts what is equal together, in the order of the first of each.
func groups[T any](all []T, name func(T) string) (list [][]T) {
	at := map[string]int{}
	for _, one := range all {
		i, known := at[name(one)]
		if !known {
			i = len(list)
			at[name(one)], list = i, append(list, nil)
		}
		list[i] = append(list[i], one)
	}
	return list
}

// equal reads what has failed in the same way, newest first, maxEqual at most; more says that there may be
// others. next reads what comes behind the last one.
func equal[T any](of string, name func(T) string, next func(last T) ([]T, error)) (found []T, more bool, err error) {
	for last := *new(T); ; {
		page, err := next(last)
		if err != nil || len(page) == 0 {
			return found, false, err
		}
		for _, last = range page {
			if name(last) != of {
				continue
			}
			if found = append(found, last); len(found) == maxEqual {
				return found, true, nil
			}
		}
	}
}

func (p *Page) equalRows(ctx context.Context, of string) ([]queue.Parked, bool, error) {
	return equal(of, rowDigest, func(last queue.Parked) ([]queue.Parked, error) {
		return queue.ListParked(ctx, p.db, queue.ParkedOptions{Open: true, After: last.ID, Limit: 500})
	})
}

// retryAll tries everything again that has failed in the same way. Jobs of one digest are of one state.
func (p *Page) retryAll(ctx context.Context, r *http.Request, _ int64) (string, error) {
	of := r.PathValue("digest")
	all := tally{noun: "job", verb: "tried again"}
	for _, state := range []queue.State{queue.Dead, queue.Leftovers} {
		jobs, more, err := equal(of, jobDigest, func(last queue.Job) ([]queue.Job, error) {
			return queue.List(ctx, p.db, queue.ListOptions{State: state, After: last.ID, Limit: 500})
		})
		if err != nil {
			return "", err
		}
		for _, j := range jobs {
			_, err := queue.Retry(ctx, p.db, j.ID)
			all.add(err)
		}
		all.more = all.more || more
	}
	return p.eachRow(ctx, of, all, queue.RetryParked)
}

// skipAll leaves every row that could not be deleted for the same reason.
func (p *Page) skipAll(ctx context.Context, r *http.Request, _ int64) (string, error) {
	return p.eachRow(ctx, r.PathValue("digest"), tally{noun: "row", verb: "skipped"}, queue.SkipParked)
}

// eachRow does a verb to every parked row of one digest, and tells what became of all.
func (p *Page) eachRow(ctx context.Context, of string, all tally, verb func(context.Context, onerow.DB, int64) (queue.Job, error)) (string, error) {
	rows, more, err := p.equalRows(ctx, of)
	if err != nil {
		return "", err
	}
	for _, row := range rows {
		_, err := verb(ctx, p.db, row.ID)
		all.add(err)
		all.noun = "row"
	}
	all.more = all.more || more
	return all.told()
}

// tally is what became of many.
type tally struct {
	noun, verb string
	done, gone int
	failed     error // the first
	failures   int
	late       int // that there was no time for
	more       bool
}

func (t *tally) add(err error) {
	switch {
	case err == nil:
		t.done++
	case errors.Is(err, queue.ErrNoJob), errors.Is(err, onerow.ErrNotFound), errors.Is(err, queue.ErrWrongState), errors.Is(err, queue.ErrOpenJob), errors.Is(err, repo.ErrTooLate):
		t.gone++
	default:
		if t.failures++; t.failed == nil {
			t.failed = err
		}
	}
}

func (t *tally) told() (string, error) {
	if t.done+t.failures+t.late == 0 {
		return "", notFound("Nothing of these is there any more: somebody was faster.")
	}
	text := output.Plural(t.done, t.noun) + map[bool]string{true: " is ", false: " are "}[t.done == 1] + t.verb
	if t.gone > 0 {
		text += fmt.Sprintf(", of %d others somebody else has decided", t.gone)
	}
	if t.late > 0 {
		text += fmt.Sprintf("; for %d there was no time, so do it again", t.late)
	}
	if t.failed != nil {
		return "", fmt.Errorf("%s, but %s: %w", text, output.Plural(t.failures, t.noun)+map[bool]string{true: " is not", false: " are not, the first because"}[t.failures == 1], t.failed)
	}
	if t.more {
		text += "; there are more"
	}
	return capital(text) + ".", nil
}

// shownOfGroup is how many of a group are listed one by one.
const shownOfGroup = 20

// groupView is what failed in the same way; a single one is a group of one.
type groupView struct {
	Digest string
	Title  string
	State  string
	Kind   string
	Error  string
	When   string // of the newest
	Jobs   []jobView
	Rows   []parkedView
	N      int
	More   int64 // that are not listed here
	Act    bool
}

type parkedView struct {
	ID, Job int64
	Table   string
	Key     string
	When    string
	Exact   string
}

func (p viewer) group(digest string, n int, noun, of string) groupView {
	return groupView{Digest: digest, N: n, More: int64(max(0, n-shownOfGroup)), Act: p.mayAct, Title: output.Plural(n, noun) + " of " + output.Printable(of)}
}

func (p viewer) jobGroups(b *board, all []queue.Job) (list []groupView) {
	for _, group := range groups(all, jobDigest) {
		first := p.job(b, group[0])
		v := p.group(jobDigest(group[0]), len(group), "job", group[0].Resource)
		v.State, v.Kind, v.Error, v.When = first.State, first.Kind, first.Error, first.When
		for _, j := range group[:min(len(group), shownOfGroup)] {
			v.Jobs = append(v.Jobs, p.job(b, j))
		}
		list = append(list, v)
	}
	return list
}

func (p viewer) rowGroups(b *board, all []queue.Parked) (list []groupView) {
	for _, group := range groups(all, rowDigest) {
		v := p.group(rowDigest(group[0]), len(group), "row", group[0].Table)
		v.Kind, v.Error, v.When = "warn", output.Shorten(output.OneLine(group[0].Error), 400), "parked "+ago(b.At, group[0].ParkedAt)
		for _, r := range group[:min(len(group), shownOfGroup)] {
			v.Rows = append(v.Rows, parkedView{ID: r.ID, Job: r.JobID, Table: output.Printable(r.Table), Key: output.RowKey(r.Key), When: "parked " + ago(b.At, r.ParkedAt), Exact: output.Moment(r.ParkedAt)})
		}
		list = append(list, v)
	}
	return list
}
