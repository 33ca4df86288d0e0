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

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
)

// Errors are equal if they differ in numbers and in quoted values only; the server's own number counts.
var (
	details    = regexp.MustCompile(`Error \d+ \(\w+\)|'[^']*'|"[^"]*"|\d+`)
	mostOfThem = 1000 // that one button retries or skips
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

// equalJobs are the jobs in trouble of one digest, newest first, mostOfThem at most; more says that there may
// be others.
func (p *Page) equalJobs(ctx context.Context, of string) (jobs []queue.Job, more bool, err error) {
	for _, state := range []queue.State{queue.Dead, queue.Leftovers} {
		for before := int64(0); ; {
			list, err := queue.List(ctx, p.db, queue.ListOptions{State: state, After: before, Limit: 500})
			if err != nil || len(list) == 0 {
				if err != nil {
					return nil, false, err
				}
				break
			}
			for _, j := range list {
				if before = j.ID; jobDigest(j) == of {
					if jobs = append(jobs, j); len(jobs) == mostOfThem {
						return jobs, true, nil
					}
				}
			}
		}
	}
	return jobs, false, nil
}

// equalRows are the parked rows of one digest, newest first, likewise.
func (p *Page) equalRows(ctx context.Context, of string) (rows []queue.Parked, more bool, err error) {
	for after := int64(0); ; {
		list, err := queue.ListParked(ctx, p.db, queue.ParkedOptions{Open: true, After: after, Limit: 500})
		if err != nil || len(list) == 0 {
			return rows, false, err
		}
		for _, r := range list {
			if after = r.ID; rowDigest(r) == of {
				if rows = append(rows, r); len(rows) == mostOfThem {
					return rows, true, nil
				}
			}
		}
	}
}

// retryAll tries everything again that has failed in the same way.
func (p *Page) retryAll(ctx context.Context, r *http.Request, _ int64) (string, error) {
	of := r.PathValue("digest")
	jobs, moreJobs, err := p.equalJobs(ctx, of)
	if err != nil {
		return "", err
	}
	rows, moreRows, err := p.equalRows(ctx, of)
	if err != nil {
		return "", err
	}
	var all tally
	for _, j := range jobs {
		_, err := queue.Retry(ctx, p.db, j.ID)
		all.add(err)
	}
	for _, row := range rows {
		_, err := queue.RetryParked(ctx, p.db, row.ID)
		all.add(err)
	}
	what := "job"
	if len(rows) > 0 {
		what = "row"
	}
	return all.told(what, "tried again", moreJobs || moreRows)
}

// skipAll leaves every row that could not be deleted for the same reason.
func (p *Page) skipAll(ctx context.Context, r *http.Request, _ int64) (string, error) {
	rows, more, err := p.equalRows(ctx, r.PathValue("digest"))
	if err != nil {
		return "", err
	}
	var all tally
	for _, row := range rows {
		_, err := queue.SkipParked(ctx, p.db, row.ID)
		all.add(err)
	}
	return all.told("row", "skipped", more)
}

// tally is what became of many.
type tally struct {
	done, gone int
	failed     error // the first
	failures   int
}

func (t *tally) add(err error) {
	switch {
	case err == nil:
		t.done++
	case errors.Is(err, queue.ErrNoJob), errors.Is(err, queue.ErrNoParked), errors.Is(err, queue.ErrWrongState), errors.Is(err, queue.ErrOpenJob):
		t.gone++
	default:
		if t.failures++; t.failed == nil {
			t.failed = err
		}
	}
}

func (t *tally) told(noun, done string, more bool) (string, error) {
	if t.done+t.failures == 0 {
		return "", goneError("Nothing of these is there any more: somebody was faster.")
	}
	text := output.Plural(t.done, noun) + map[bool]string{true: " is ", false: " are "}[t.done == 1] + done
	if t.gone > 0 {
		text += fmt.Sprintf(", of %d others somebody else has decided", t.gone)
	}
	if t.failed != nil {
		return "", fmt.Errorf("%s, but %d are not: %w", text, t.failures, t.failed)
	}
	if more {
		text += "; there are more"
	}
	return capital(text) + ".", nil
}
