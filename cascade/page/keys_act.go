package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
)

// seenKey is the key that a question or a post is about, in the state in which its page has shown it.
func seenKey(r *http.Request) (idempotency.Entry, error) {
	q := r.URL.Query()
	token, err := strconv.ParseInt(q.Get("token"), 10, 64)
	e := idempotency.Entry{Key: keyIn(q), Token: token, Status: idempotency.Status(q.Get("status"))}
	if err != nil || token < 1 || e.Key.Check() != nil {
		return e, refusal{http.StatusNotFound, "That names no key."}
	}
	return e, nil
}

// questionKey asks whether a verb is meant, and why.
func (p *Page) questionKey(verb, title string, v askView) question {
	return func(ctx context.Context, r *http.Request, _ int64) (askView, error) {
		seen, err := seenKey(r)
		if err != nil {
			return v, err
		}
		now, err := keyadmin.Find(ctx, p.db, seen.Key)
		switch {
		case errors.Is(err, keyadmin.ErrNoKey):
			return v, notFound("There is no such key any more.")
		case err != nil:
			return v, err
		case now.Token != seen.Token || now.Status != seen.Status:
			return v, conflict("the key has changed meanwhile: it is %s, with token %d", now.Status, now.Token)
		}
		asked := v
		asked.Title, asked.Action, asked.Back, asked.Why = fmt.Sprintf(title, keyName(seen.Key)), "/key/"+verb+"?"+r.URL.RawQuery, keyWords(seen).Link, true
		return asked, nil
	}
}

func (p *Page) questionRelease() question {
	return p.questionKey("release", "Free %s?", askView{Yes: "Yes, free it", No: "No", Danger: true,
		Lines: []string{"You say that its work was not done: the next caller does it.", "Its holder, should it still run, loses the key."}})
}

func (p *Page) questionComplete() question {
	return p.questionKey("complete", "End %s with a result?", askView{Yes: "Yes, it was done", No: "No", Danger: true, Result: true,
		Lines: []string{"You say that its work was done, and what came of it: the next callers get that."}})
}

func (p *Page) questionForget() question {
	return p.questionKey("expire", "Make %s absent?", askView{Yes: "Yes, forget it", No: "No", Danger: true,
		Lines: []string{"The next caller does the work anew, with whatever payload it has."}})
}

// onKey makes an action of an operator's verb, which is conditional on what was seen.
func (p *Page) onKey(told string, verb func(o *keyadmin.Operator, ctx context.Context, r *http.Request, seen idempotency.Entry) error) action {
	return func(ctx context.Context, r *http.Request, _ int64) (string, error) {
		seen, err := seenKey(r)
		if err != nil {
			return "", err
		}
		why := reasonOf(r)
		if why == "" {
			return "", errors.New("nothing was changed: say why, for the audit")
		}
		keys, err := idempotency.New(idempotency.Config{})
		if err != nil {
			return "", err
		}
		o, err := keyadmin.NewOperator(keys, p.actor(r), why)
		if err != nil {
			return "", err
		}
		var changed *keyadmin.ChangedError
		switch err := verb(o, ctx, r, seen); {
		case errors.As(err, &changed) && changed.Now.Token == 0:
			return "", notFound("Nothing was changed: there is no such key, or it is purged.")
		case errors.As(err, &changed):
			return "", fmt.Errorf("nothing was changed: the key is %s with token %d by now, not %s with %d, or that does not fit it", changed.Now.Status, changed.Now.Token, seen.Status, seen.Token)
		case err != nil:
			return "", err
		}
		return keyName(seen.Key) + " " + told, nil
	}
}

func (p *Page) releaseKey() action {
	return p.onKey("is free: the next caller does the work.", func(o *keyadmin.Operator, ctx context.Context, _ *http.Request, seen idempotency.Entry) error {
		return o.Release(ctx, p.db, seen)
	})
}

func (p *Page) completeKey() action {
	return p.onKey("is complete: the next callers get the result.", func(o *keyadmin.Operator, ctx context.Context, r *http.Request, seen idempotency.Entry) error {
		result := strings.TrimSpace(r.PostFormValue("result"))
		if !json.Valid([]byte(result)) {
			return errors.New(`nothing was changed: the result is no JSON; a text needs quotes, and null is nothing`)
		}
		return o.Complete(ctx, p.db, seen, json.RawMessage(result))
	})
}

func (p *Page) expireKey() action {
	return p.onKey("is absent: the next caller does the work anew.", func(o *keyadmin.Operator, ctx context.Context, _ *http.Request, seen idempotency.Entry) error {
		return o.Expire(ctx, p.db, seen)
	})
}
