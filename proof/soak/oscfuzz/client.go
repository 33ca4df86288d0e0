package oscfuzz

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/repo"
)

// client makes, changes, deletes and brings back trees of its own.
type client struct {
	*world
	number int64
	r      *rand.Rand
	next   int64 // of ids and texts
	trees  []*tree
}

// fresh is a number that nothing else has.
func (c *client) fresh() int64 {
	c.next++
	return c.number*1_000_000 + c.next
}

func (c *client) text() string {
	return fmt.Sprintf("b%d-%s", c.fresh(), strings.Repeat("x", c.r.IntN(60)))
}

const (
	maxAlive = 12
	callTime = 40 * time.Second // longer than a lock that is held and all attempts
)

// call makes one call.
func (c *client) call(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	of := func(s ...state) []*tree {
		return slices.DeleteFunc(slices.Clone(c.trees), func(t *tree) bool { return !slices.Contains(s, t.state) })
	}
	living, gone := of(alive), of(deleted, opened)
	pick := func(trees []*tree) *tree { return trees[c.r.IntN(len(trees))] }
	kind, err := "", error(nil)
	switch n := c.r.IntN(12); {
	case len(living) < 3, n < 2 && len(living) < maxAlive:
		kind, err = "create", c.create(ctx)
	case n < 7:
		kind, err = "update", c.update(ctx, pick(living))
	case n == 7:
		kind, err = "move", c.move(ctx, pick(living))
	case n < 10:
		kind, err = "delete", c.remove(ctx, pick(living))
	case len(gone) > 0:
		kind, err = "restore", c.restore(ctx, pick(gone))
	default:
		return
	}
	c.told(kind, err)
	if err != nil {
		time.Sleep(20 * time.Millisecond)
	}
}

// told counts an answer. What is unknown cannot be: nobody ends a client's session.
func (c *client) told(kind string, err error) {
	c.count(kind, err)
	if err != nil && kind != "restore" && !refused(err) {
		c.found.Add(brokenCall, "%s: %v", kind, err)
	}
}

// create makes a tree in one transaction.
func (c *client) create(ctx context.Context) error {
	t := &tree{user: c.number, name: fmt.Sprint("project ", c.fresh()), body: c.text()}
	tickets, notes, links := 1+c.r.IntN(25), c.r.IntN(8), c.r.IntN(4)
	err := onerow.InTx(ctx, c.db, func(ctx context.Context, tx *onerow.Tx) error {
		t.tickets, t.notes, t.links = map[int64]*leaf{}, map[[2]int64]string{}, map[int64]string{}
		res, err := c.shop.projects.Create(ctx, tx, project{UserID: t.user, Name: t.name, Body: t.body})
		if err != nil {
			return err //nolint:wrapcheck // it is looked at
		}
		t.id = res.Row.ID
		for range tickets {
			if err := c.hang(ctx, tx, t, c.r.IntN(notes+1)); err != nil {
				return err
			}
		}
		for range links {
			id, body := c.fresh(), c.text()
			t.links[id] = body
			if _, err := tx.ExecContext(ctx, "INSERT INTO link (id, project_id, body) VALUES (?, ?, ?)", id, t.id, body); err != nil {
				return err //nolint:wrapcheck // it is looked at
			}
		}
		return nil
	})
	if err == nil {
		c.trees = append(c.trees, t)
	}
	return err //nolint:wrapcheck // it is looked at
}

// hang puts a ticket below a project: by the repository, or as the programs of before do, without a key.
func (c *client) hang(ctx context.Context, tx *onerow.Tx, t *tree, notes int) error {
	id := c.fresh()
	k := &leaf{title: fmt.Sprint("Ticket  ", id), body: c.text(), mine: c.r.IntN(2) == 0}
	t.tickets[id] = k
	var err error
	if k.mine {
		_, err = c.shop.tickets.Create(ctx, tx, ticket{ID: id, ProjectID: t.id, Title: k.title, Body: k.body})
	} else {
		_, err = tx.ExecContext(ctx, "INSERT INTO ticket (id, project_id, title, body, created_at, updated_at) VALUES (?, ?, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))",
			id, t.id, k.title, k.body)
	}
	for n := range int64(notes) {
		body := c.text()
		t.notes[[2]int64{id, n + 1}] = body
		if err == nil {
			_, err = tx.ExecContext(ctx, "INSERT INTO note (ticket_id, n, body) VALUES (?, ?, ?)", id, n+1, body)
		}
	}
	return err //nolint:wrapcheck // it is looked at
}

// update changes texts of a tree, in one transaction.
func (c *client) update(ctx context.Context, t *tree) error {
	table, body := "project", c.text()
	tickets, notes := map[int64]string{}, map[[2]int64]string{}
	for id := range t.tickets {
		if c.r.IntN(4) == 0 {
			tickets[id] = c.text()
		}
	}
	for key := range t.notes {
		if c.r.IntN(6) == 0 {
			notes[key] = c.text()
		}
	}
	if t.archived {
		table = "project_archive"
	}
	err := onerow.InTx(ctx, c.db, func(ctx context.Context, tx *onerow.Tx) error {
		err := onerow.AffectOne(ctx, tx, "UPDATE "+table+" SET body = ? WHERE id = ?", body, t.id)
		for _, id := range slices.Sorted(maps.Keys(tickets)) {
			if err == nil {
				err = onerow.AffectOne(ctx, tx, "UPDATE "+t.tickets[id].table()+" SET body = ? WHERE id = ?", tickets[id], id)
			}
		}
		for key, body := range notes {
			if err == nil {
				err = onerow.AffectOne(ctx, tx, "UPDATE note SET body = ? WHERE ticket_id = ? AND n = ?", body, key[0], key[1])
			}
		}
		return err //nolint:wrapcheck // it is looked at
	})
	if err != nil {
		return err //nolint:wrapcheck // it is looked at
	}
	t.body = body
	for id, body := range tickets {
		t.tickets[id].body = body
	}
	maps.Copy(t.notes, notes)
	return nil
}

func (k *leaf) table() string {
	if k.archived {
		return "ticket_archive"
	}
	return "ticket"
}

// move archives the project or a ticket of it, or brings it back from the archive.
func (c *client) move(ctx context.Context, t *tree) (err error) {
	for id, k := range t.tickets {
		if !k.mine || c.r.IntN(3) > 0 {
			continue
		}
		if k.archived {
			_, err = c.shop.tickets.Activate(ctx, c.db, id)
		} else {
			_, err = c.shop.tickets.Archive(ctx, c.db, id)
		}
		if err != nil {
			return err //nolint:wrapcheck // it is looked at
		}
		k.archived = !k.archived
	}
	if t.archived {
		_, err = c.shop.projects.Activate(ctx, c.db, t.id)
	} else {
		_, err = c.shop.projects.Archive(ctx, c.db, t.id)
	}
	if err == nil {
		t.archived = !t.archived
	}
	return err //nolint:wrapcheck // it is looked at
}

func (c *client) remove(ctx context.Context, t *tree) error {
	res, err := c.shop.projects.Delete(ctx, c.db, t.id, repo.Grace(time.Duration(c.r.IntN(2)*c.r.IntN(1000))*time.Millisecond))
	if err == nil && res.JobID == 0 {
		err = errors.New("no job")
	}
	if err == nil {
		t.state, t.job, t.restored = deleted, res.JobID, 0
		t.deletions++
	}
	return err //nolint:wrapcheck // it is looked at
}
