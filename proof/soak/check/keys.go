package check

import (
	"context"
	"database/sql"

	"github.com/onerow/onerow/proof/soak/journal"
	"github.com/onerow/onerow/proof/soak/load"
)

// key is an idempotency key's row with its effects.
type key struct {
	status string
	token  int64
	stored string
	effect []effect
}

type effect struct {
	value string
	token int64
}

const (
	readKeys    = `SELECT idem_key, status, token, COALESCE(result, '') FROM onerow_key WHERE operation = ?`
	readEffects = `SELECT idem_key, value, token FROM soak_effect WHERE kind = ?`
)

func (c *checker) readKeys(ctx context.Context, kind string) (map[string]*key, error) {
	keys := map[string]*key{}
	err := c.query(ctx, readKeys, func(rows *sql.Rows) error {
		var id string
		var k key
		err := rows.Scan(&id, &k.status, &k.token, &k.stored)
		keys[id] = &k
		return err
	}, kind)
	if err != nil {
		return nil, err
	}
	return keys, c.query(ctx, readEffects, func(rows *sql.Rows) error {
		var id string
		var e effect
		err := rows.Scan(&id, &e.value, &e.token)
		if keys[id] == nil {
			keys[id] = &key{}
		}
		keys[id].effect = append(keys[id].effect, e)
		return err
	}, kind)
}

// once is what holds for keys of both kinds.
func (c *checker) once(p Promise, id string, k *key) {
	if len(k.effect) > 1 {
		c.add(p, Doubled, "key %q had its effect %d times", id, len(k.effect))
	}
	switch {
	case k.status == "in_progress":
		c.add(p, Stuck, "key %q is still in progress", id)
	case k.status == "complete" && len(k.effect) == 0:
		c.add(p, Lost, "key %q is complete and its effect is not there", id)
	case k.status != "complete" && len(k.effect) > 0:
		c.add(p, Doubled, "key %q is %q and has had its effect", id, k.status)
	case len(k.effect) > 0 && k.stored != `"`+k.effect[0].value+`"`:
		c.add(p, Duplicate, "key %q has the effect %q and the stored result %s", id, k.effect[0].value, k.stored)
	}
}

// answer holds what a caller was told against the effect.
func (c *checker) answer(p Promise, id, value string, k *key) {
	switch {
	case k == nil || len(k.effect) == 0:
		c.add(p, Lost, "key %q was acknowledged with %q, and its effect is not there", id, value)
	case k.effect[0].value != value:
		c.add(p, Duplicate, "key %q was answered with %q, and had the effect %q", id, value, k.effect[0].value)
	}
}

func (c *checker) keysInOneCommit(ctx context.Context) error {
	keys, err := c.readKeys(ctx, load.OneCommit)
	if err != nil {
		return err
	}
	for id, k := range keys {
		c.once(OneCommit, id, k)
		if load.NeverWorks(id) && len(k.effect) > 0 {
			c.add(OneCommit, Doubled, "key %q fails for good and has had its effect", id)
		}
		entries := c.history.keys[onKey{op: journal.Do, key: id}]
		if k.status == "complete" && !happened(entries) {
			c.add(OneCommit, Doubled, "key %q is complete, and all its callers were told that nothing was done", id)
		}
	}
	for at, entries := range c.history.keys {
		if at.op != journal.Do {
			continue
		}
		for _, e := range entries {
			if e.Result == journal.OK {
				c.answer(OneCommit, at.key, e.Value, keys[at.key])
			}
			if e.Result == journal.Refused && (keys[at.key] == nil || keys[at.key].status != "error") {
				c.add(OneCommit, Lost, "key %q was said to have failed for good, and no error is stored", at.key)
			}
		}
	}
	return nil
}

func (c *checker) keysInTwoSteps(ctx context.Context) error {
	keys, err := c.readKeys(ctx, load.TwoSteps)
	if err != nil {
		return err
	}
	for id, k := range keys {
		c.once(TwoSteps, id, k)
		for _, e := range k.effect {
			if e.token != k.token {
				c.add(TwoSteps, Doubled, "key %q had its effect under token %d, and its token is %d", id, e.token, k.token)
			}
		}
	}
	for at, entries := range c.history.keys {
		switch at.op {
		case journal.Begin:
			c.begun(at.key, entries, keys[at.key])
		case journal.Complete:
			for _, e := range entries {
				if e.Result == journal.OK {
					c.answer(TwoSteps, at.key, e.Value, keys[at.key])
				}
			}
		}
	}
	return nil
}

func (c *checker) begun(id string, entries []journal.Entry, k *key) {
	holders := map[int64]bool{}
	for _, e := range entries {
		switch {
		case e.Result != journal.OK:
		case e.Number == 0: // a stored result
			c.answer(TwoSteps, id, e.Value, k)
		case k == nil:
			c.add(TwoSteps, Lost, "key %q was claimed with token %d and is not there", id, e.Number)
		case holders[e.Number]:
			c.add(TwoSteps, Duplicate, "key %q was given to two callers with token %d", id, e.Number)
		case e.Number > k.token:
			c.add(TwoSteps, Lost, "key %q was claimed with token %d, and its token is %d", id, e.Number, k.token)
		}
		holders[e.Number] = true
	}
}
