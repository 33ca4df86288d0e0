package page

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/ordering"
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

// serialsView lists series of numbers.
type serialsView struct {
	Series []seriesView
	Next   string // the link to the next page
}

// seriesView is a series, and on its own page what is wrong with it.
type seriesView struct {
	Link, Name string
	Given      string // which numbers are given out
	Verdict    string
	Kind       string
	Findings   []fact
	More       int64
}

func (p *Page) serials(ctx context.Context, r *http.Request) (any, error) {
	all, err := serial.List(ctx, p.db, r.URL.Query().Get("after"), maxListed)
	v := serialsView{}
	for _, s := range all {
		one := seriesView{Link: "/series?" + url.Values{"name": {s.Series}}.Encode(), Name: output.Printable(s.Series), Given: "nothing is given out"}
		if s.Next > s.First {
			one.Given = fmt.Sprintf("%s to %s are given out", output.Grouped(s.First), output.Grouped(s.Next-1))
		}
		v.Series = append(v.Series, one)
	}
	if n := len(all); n == maxListed {
		v.Next = "/serials?" + url.Values{"after": {all[n-1].Series}}.Encode()
	}
	return v, err
}

// oneSeries looks for what is missing, doubled or voided. It reads every claim of the series.
func (p *Page) oneSeries(ctx context.Context, r *http.Request) (any, error) {
	name := r.URL.Query().Get("name")
	series, err := serial.New(name)
	if err != nil {
		return nil, refusal{http.StatusBadRequest, "A series has a name of 1 to 255 bytes."}
	}
	if known, err := series.Exists(ctx, p.db); err != nil || !known {
		return nil, firstOf(err, notFound("There is no series %s: nothing was ever claimed in it.", output.Shorten(output.Printable(name), 255)))
	}
	found, err := gaps.Find(ctx, p.db, series)
	if err != nil {
		return nil, err
	}
	v := seriesView{Name: output.Printable(name), Kind: "good", Verdict: "in order", More: int64(max(0, len(found)-maxListed))}
	if !gaps.Complete(found) {
		v.Kind, v.Verdict = "bad", "not in order"
	}
	for _, f := range found[:min(len(found), maxListed)] {
		numbers := output.Grouped(f.From)
		if f.To != f.From {
			numbers += " to " + output.Grouped(f.To)
		}
		if f.Key != "" {
			numbers += ", claim " + output.Shorten(output.Printable(f.Key), 255)
		}
		v.Findings = append(v.Findings, fact{capital(string(f.Kind)), numbers})
	}
	return v, nil
}

func firstOf(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// limitsView lists what owners have in use of their limits. The application knows the maximum, so nothing can
// be done here.
type limitsView struct {
	Limits []limitView
	Next   string
}

type limitView struct {
	Name, Owner string
	Used        string
	Kind, Note  string
}

func (p *Page) limits(ctx context.Context, r *http.Request) (any, error) {
	q := r.URL.Query()
	all, err := limit.List(ctx, p.db, limit.Line{Name: q.Get("name"), Owner: q.Get("owner")}, maxListed)
	v := limitsView{}
	for _, l := range all {
		one := limitView{Name: output.Printable(l.Name), Owner: output.Printable(l.Owner)}
		switch {
		case !l.Known:
			one.Used = "not counted yet"
		case l.Max < 0:
			one.Used = output.Grouped(l.Used) + " in use, without a maximum"
		default:
			one.Used = output.Grouped(l.Used) + " of " + output.Grouped(l.Max) + " in use"
			if l.Used >= l.Max {
				one.Kind = "warn"
			}
		}
		if l.Recount && l.Known {
			one.Note = "is to be counted again"
		}
		v.Limits = append(v.Limits, one)
	}
	if n := len(all); n == maxListed {
		v.Next = "/limits?" + url.Values{"name": {all[n-1].Name}, "owner": {all[n-1].Owner}}.Encode()
	}
	return v, err
}

// lettersView lists messages of a queue that could not be applied, in the order of their parking.
type lettersView struct {
	Queue   string
	Letters []letterView
	Next    string
}

type letterView struct {
	ID                            int64
	Message, When, Reason, Losing string
	Payload                       string
}

func (p *Page) letters(ctx context.Context, r *http.Request) (any, error) {
	q := r.URL.Query()
	v := lettersView{Queue: output.Printable(q.Get("queue"))}
	if q.Get("queue") == "" {
		return v, nil
	}
	after, err := strconv.ParseInt(q.Get("after"), 10, 64)
	if err != nil || after < 0 {
		after = 0
	}
	all, err := ordering.DeadLetters(ctx, p.db, q.Get("queue"), after, maxListed)
	for _, l := range all {
		one := letterView{ID: l.ID, Message: output.Printable(l.MessageID), When: moment(l.ParkedAt), Reason: output.Shorten(output.OneLine(l.Reason), 400),
			Payload: output.Shorten(output.OneLine(string(l.Payload)), 2000)}
		if len(l.Losing) > 0 && string(l.Losing) != "[]" && string(l.Losing) != "null" {
			one.Losing = output.Shorten(output.OneLine(string(l.Losing)), 2000)
		}
		v.Letters = append(v.Letters, one)
	}
	if n := len(all); n == maxListed {
		v.Next = "/letters?" + url.Values{"queue": {q.Get("queue")}, "after": {strconv.FormatInt(all[n-1].ID, 10)}}.Encode()
	}
	return v, err
}
