package load

import (
	"context"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"

	"github.com/onerow/onerow/proof/soak/journal"
)

// contested collide: some are the same in another spelling, some are copies of others.
var contested = []string{
	"Email Campaign", "EMAIL  campaign", "Email Campaign (Copy 1)", "Email Campaign (Copy 2)", "Landing Page", "landing page",
	"Onboarding", "Checkout", "Checkout (Copy 7)", "Straße", "STRASSE", "Ünïcode", "Brand", "Brand 2", "Icons", "Icons (Copy 1)",
	"Settings", "Search", "Profile", "Dashboard", "Reports", "Mobile", "Tablet", "Archive",
}

func (c *client) owner() int64 { return int64(c.rand.IntN(c.cfg.Owners)) + 1 }

// requestID is fresh, or one that others draw too, now or a few seconds ago.
func (c *client) requestID() string {
	switch n := c.rand.IntN(100); {
	case n < 80:
		return c.fresh()
	case n < 95:
		return c.shared(time.Second, 3)
	}
	return c.shared(30*time.Second, 10)
}

func (c *client) createProject(ctx context.Context) error {
	id := c.requestID()
	owner := int64(hash(id, c.cfg.Owners)) + 1
	e := journal.Entry{Op: journal.Create, Resource: ProjectResource, Owner: owner, Key: id, Value: contested[hash("name "+id, len(contested))]}
	row := Project{UserID: owner, Name: e.Value}
	e, err := c.call(ctx, e, true, func(ctx context.Context, e *journal.Entry) error {
		res, err := c.projects.Create(ctx, c.db, row, repo.RequestID(id))
		e.ID, e.Changed = res.Row.ID, res.Changed
		return err
	})
	c.settle(ctx, e)
	return err
}

// settle is what a web application does after a verb; it may fail, the sweep does it then.
func (c *client) settle(ctx context.Context, e journal.Entry) {
	if e.Result != journal.OK || c.rand.IntN(2) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attempt)
	defer cancel()
	if err := c.rule.Settle(ctx, c.db, e.Owner); err != nil {
		c.failed.Add(1)
	}
}

// pick returns one of an owner's projects, as a list shows them; 0: the list could not be read or is empty.
func (c *client) pick(ctx context.Context, owner int64, state schema.State) int64 {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attempt)
	defer cancel()
	var after repo.Cursor
	if c.rand.IntN(2) == 0 { // not always the first page, whose rows everybody moves
		key, err := onerow.EncodeKey(int64(c.rand.IntN(int(1 + c.ok.Load()/4))))
		if err == nil {
			after = repo.Cursor(key)
		}
	}
	page, err := c.projects.List(ctx, c.db, owner, repo.PageOptions{State: state, Limit: 12, After: after})
	if err != nil || len(page.Items) == 0 {
		return 0
	}
	return page.Items[c.rand.IntN(len(page.Items))].ID
}

// on calls a verb on one of an owner's projects.
func (c *client) on(ctx context.Context, state schema.State, e journal.Entry, again bool,
	verb func(ctx context.Context, id int64, e *journal.Entry) error) error {
	e.Resource, e.Owner = ProjectResource, c.owner()
	if e.ID = c.pick(ctx, e.Owner, state); e.ID == 0 {
		return nil
	}
	e, err := c.call(ctx, e, again, func(ctx context.Context, e *journal.Entry) error { return verb(ctx, e.ID, e) })
	c.settle(ctx, e)
	return err
}

func (c *client) rename(ctx context.Context) error {
	name := contested[c.rand.IntN(len(contested))]
	return c.on(ctx, schema.Active, journal.Entry{Op: journal.Rename, Value: name}, true,
		func(ctx context.Context, id int64, e *journal.Entry) error {
			res, err := c.projects.Rename(ctx, c.db, id, name)
			e.Changed = res.Changed
			return err
		})
}

// update adds one, so it is not called again after an unknown outcome.
func (c *client) update(ctx context.Context) error {
	return c.on(ctx, schema.Active, journal.Entry{Op: journal.Update}, false, func(ctx context.Context, id int64, e *journal.Entry) error {
		res, err := c.projects.Update(ctx, c.db, id, func(row *Project) error { row.Hits++; return nil })
		e.Changed = res.Changed
		return err
	})
}

func (c *client) archive(ctx context.Context) error {
	return c.on(ctx, schema.Active, journal.Entry{Op: journal.Archive}, true, func(ctx context.Context, id int64, e *journal.Entry) error {
		res, err := c.projects.Archive(ctx, c.db, id)
		e.Changed = res.Changed
		return err
	})
}

func (c *client) activate(ctx context.Context) error {
	return c.on(ctx, schema.Archived, journal.Entry{Op: journal.Activate}, true, func(ctx context.Context, id int64, e *journal.Entry) error {
		res, err := c.projects.Activate(ctx, c.db, id)
		e.Changed, e.Value = res.Changed, res.Row.Name
		return err
	})
}

func (c *client) anyState() schema.State {
	if c.rand.IntN(3) == 0 {
		return schema.Archived
	}
	return schema.Active
}

func (c *client) delete(ctx context.Context) error {
	return c.on(ctx, c.anyState(), journal.Entry{Op: journal.Delete}, true, func(ctx context.Context, id int64, e *journal.Entry) error {
		del, err := c.projects.Delete(ctx, c.db, id)
		e.Changed, e.Number = del.Changed, del.JobID
		return err
	})
}

// LongestGrace is how long a deletion can be cancelled at most.
const LongestGrace = 3 * time.Second

func (c *client) deleteWithGrace(ctx context.Context) error {
	grace := 200*time.Millisecond + c.upTo(LongestGrace-200*time.Millisecond)
	return c.on(ctx, c.anyState(), journal.Entry{Op: journal.Delete, Grace: true}, true, func(ctx context.Context, id int64, e *journal.Entry) error {
		del, err := c.projects.Delete(ctx, c.db, id, repo.Grace(grace))
		e.Changed, e.Number = del.Changed, del.JobID
		return err
	})
}

// readHidden reads rows whose deletion may still be cancelled; the table is small here.
const readHidden = `SELECT id, user_id FROM project_archive WHERE user_id = ? AND deletion_id IS NOT NULL ORDER BY RAND() LIMIT 1`

func (c *client) cancelDelete(ctx context.Context) error {
	e := journal.Entry{Op: journal.Cancel, Resource: ProjectResource, Owner: c.owner()}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), attempt)
	err := onerow.QueryRow(limited, c.db, readHidden, []any{e.Owner}, &e.ID, &e.Owner)
	cancel()
	if err != nil { // none is hidden, or the database cannot be asked
		return nil //nolint:nilerr // the next step finds out
	}
	e, err = c.call(ctx, e, true, func(ctx context.Context, e *journal.Entry) error {
		res, err := c.projects.CancelDelete(ctx, c.db, e.ID)
		e.Changed = res.Changed
		return err
	})
	c.settle(ctx, e)
	return err
}

const setLimit = `UPDATE soak_user SET max_projects = ?, version = version + 1 WHERE id = ?`

func (c *client) setLimit(ctx context.Context) error {
	e := journal.Entry{Op: journal.SetLimit, Owner: c.owner(), Number: int64(c.rand.IntN(12))}
	e, err := c.call(ctx, e, true, func(ctx context.Context, e *journal.Entry) error {
		return onerow.InTx(ctx, c.db, func(ctx context.Context, tx *onerow.Tx) error {
			if _, err := onerow.Affected(ctx, tx, setLimit, e.Number, e.Owner); err != nil {
				return err
			}
			return quota.Mark(ctx, tx, ProjectResource, e.Owner)
		})
	})
	c.settle(ctx, e)
	return err
}
