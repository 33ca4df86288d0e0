package load

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"

	"github.com/onerow/onerow/proof/soak/journal"
)

func (c *client) createScreen(ctx context.Context) error {
	project := c.pick(ctx, c.owner(), schema.Active)
	if project == 0 {
		return nil
	}
	id := c.fresh()
	name := fmt.Sprintf("screen%d@2x.png", c.rand.IntN(500))
	_, err := c.call(ctx, journal.Entry{Op: journal.Create, Resource: ScreenResource, Owner: project, Key: id, Value: name}, true,
		func(ctx context.Context, e *journal.Entry) error {
			res, err := c.screens.Create(ctx, c.db, Screen{ProjectID: project, Filename: name}, repo.RequestID(id))
			e.ID, e.Changed = res.Row.ID, res.Changed
			return err
		})
	return err
}

// pickScreen returns one of the screens of one of an owner's projects.
func (c *client) pickScreen(ctx context.Context, state schema.State) (screen, project int64) {
	if project = c.pick(ctx, c.owner(), schema.Active); project == 0 {
		return 0, 0
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attempt)
	defer cancel()
	page, err := c.screens.List(ctx, c.db, project, repo.PageOptions{State: state, Limit: 30})
	if err != nil || len(page.Items) == 0 {
		return 0, project
	}
	return page.Items[c.rand.IntN(len(page.Items))].ID, project
}

func (c *client) moveScreen(ctx context.Context) error {
	op, state, verb := journal.Archive, schema.Active, c.screens.Archive
	if c.rand.IntN(2) == 0 {
		op, state, verb = journal.Activate, schema.Archived, c.screens.Activate
	}
	id, project := c.pickScreen(ctx, state)
	if id == 0 {
		return nil
	}
	_, err := c.call(ctx, journal.Entry{Op: op, Resource: ScreenResource, Owner: project, ID: id}, true,
		func(ctx context.Context, e *journal.Entry) error {
			var res onerow.Result[Screen]
			res, err := verb(ctx, c.db, id)
			e.Changed, e.Value = res.Changed, res.Row.Filename
			return err
		})
	return err
}

func (c *client) createComment(ctx context.Context) error {
	screen, _ := c.pickScreen(ctx, schema.Active)
	if screen == 0 {
		return nil
	}
	id := c.fresh()
	_, err := c.call(ctx, journal.Entry{Op: journal.Create, Resource: CommentResource, Owner: screen, Key: id}, true,
		func(ctx context.Context, e *journal.Entry) error {
			res, err := c.comments.Create(ctx, c.db, Comment{ScreenID: screen, Body: "by " + id}, repo.RequestID(id))
			e.ID, e.Changed = res.Row.ID, res.Changed
			return err
		})
	return err
}

const most = 60 // comments in one transaction

// createComments makes many comments in one transaction of the application's, which the verb joins: trees
// must be large enough for a worker to die in one.
func (c *client) createComments(ctx context.Context) error {
	screen, _ := c.pickScreen(ctx, schema.Active)
	if screen == 0 {
		return nil
	}
	entries := make([]journal.Entry, 1+c.rand.IntN(most))
	for i := range entries {
		var err error
		entries[i], err = c.log.Begin(journal.Entry{Op: journal.Create, Resource: CommentResource, Owner: screen, Key: c.fresh()})
		if err != nil {
			return err
		}
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.patience())
	defer cancel()
	err := onerow.InTx(limited, c.db, func(ctx context.Context, tx *onerow.Tx) error {
		for i := range entries {
			e := &entries[i]
			res, err := c.comments.Create(ctx, tx, Comment{ScreenID: screen, Body: "by " + e.Key}, repo.RequestID(e.Key))
			if err != nil {
				return err
			}
			e.ID = res.Row.ID
		}
		return nil
	})
	for _, e := range entries {
		if e.Result = resultOf(err); err != nil {
			e.Error = short(err)
		}
		c.note(e.Result)
		if err := c.log.End(e); err != nil {
			return err
		}
	}
	return nil
}
