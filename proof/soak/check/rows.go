package check

import (
	"context"
	"database/sql"

	"github.com/onerow/onerow/proof/soak/journal"
	"github.com/onerow/onerow/proof/soak/load"
)

// creates demands that a request id makes one row or none, and always the same; every row was made by one.
func (c *checker) creates(context.Context) error {
	for resource, rows := range c.rows {
		by := map[int64]string{}
		recorded := map[onKey]int64{}
		for _, r := range c.made[resource] {
			if other, two := by[r.row]; two {
				c.add(Creates, Doubled, "%s %d was made by the requests %q and %q", resource, r.row, other, r.id)
			}
			if r.row == 0 {
				c.add(Creates, Lost, "request %q of %s was committed without its row", r.id, resource)
			}
			by[r.row] = r.id
			recorded[onKey{journal.Create, resource, r.owner, r.id, 0}] = r.row
		}
		for id := range rows {
			if _, ok := by[id]; !ok {
				c.add(Creates, Doubled, "%s %d is there and no request made it", resource, id)
			}
		}
		for key, entries := range c.history.keys {
			if key.op == journal.Create && key.resource == resource {
				c.create(key, entries, recorded)
			}
		}
		for key := range recorded {
			if !happened(c.history.keys[key]) {
				c.add(Creates, Doubled, "request %q made a %s, and whoever sent it was told that nothing was done", key.key, resource)
			}
		}
	}
	return nil
}

func (c *checker) create(key onKey, entries []journal.Entry, recorded map[onKey]int64) {
	for _, e := range entries {
		if e.Result != journal.OK {
			continue
		}
		switch id, ok := recorded[key]; {
		case !ok:
			c.add(Creates, Lost, "%s %d was acknowledged to request %q, which is not recorded", key.resource, e.ID, key.key)
		case id != e.ID:
			c.add(Creates, Duplicate, "request %q was answered with %s %d, and made %d", key.key, key.resource, e.ID, id)
		}
	}
}

// states demands that a row that was made is there, unless it or what it belongs to was deleted, and in the
// table of the last move.
func (c *checker) states(context.Context) error {
	for resource, rows := range c.rows {
		for _, m := range c.made[resource] {
			r, there := rows[m.row]
			switch {
			case m.row == 0:
			case !there && !c.mayBeGone(resource, m):
				promise := Trees // gone with a cascade that was not its own
				if resource == load.ProjectResource {
					promise = Creates
				}
				c.add(promise, Lost, "%s %d, made by request %q, is gone and nobody deleted it", resource, m.row, m.id)
			case there && r.hidden:
				c.add(Tables, Stuck, "%s %d is hidden by a deletion that has no job any more", resource, m.row)
			case there:
				c.state(resource, r)
			}
		}
	}
	return nil
}

// mayBeGone says whether somebody may have deleted the row and nobody has brought it back since, or its
// parent went.
func (c *checker) mayBeGone(resource string, m request) bool {
	parent := map[string]string{load.ScreenResource: load.ProjectResource, load.CommentResource: load.ScreenResource}[resource]
	if parent != "" {
		if _, there := c.rows[parent][m.owner]; !there {
			return true
		}
	}
	deletes := c.history.of(resource, m.row, journal.Delete)
	back, settled := last(c.history.of(resource, m.row, journal.Delete, journal.Cancel))
	return len(deletes) > 0 && (!settled || back.Op == journal.Delete)
}

func (c *checker) state(resource string, r *row) {
	moves := c.history.of(resource, r.id, journal.Archive, journal.Activate, journal.Delete, journal.Cancel)
	e, settled := last(moves)
	switch {
	case len(moves) == 0 && !r.active:
		c.add(Tables, Doubled, "%s %d is archived and nobody archived it", resource, r.id)
	case !settled:
	case e.Op == journal.Archive && !r.archived, e.Op == journal.Activate && !r.active:
		c.add(Tables, Lost, "%s %d: %s was acknowledged last and is not the row's state", resource, r.id, e.Op)
	}
}

// No index has a say in the grouping: a broken one would confirm itself.
const (
	readSameNames = `SELECT owner, k, COUNT(*) FROM (SELECT user_id + 0 AS owner, CONCAT(name_key, '') AS k FROM project) AS n
  GROUP BY owner, k HAVING COUNT(*) > 1`
	readSameFiles = `SELECT owner, k, COUNT(*) FROM (SELECT project_id + 0 AS owner, CONCAT(filename_key, '') AS k FROM screen) AS n
  GROUP BY owner, k HAVING COUNT(*) > 1`
)

// names demands that one active row has a name; the last name that was given is the row's.
func (c *checker) names(ctx context.Context) error {
	for resource, query := range map[string]string{load.ProjectResource: readSameNames, load.ScreenResource: readSameFiles} {
		err := c.query(ctx, query, func(rows *sql.Rows) error {
			var owner, n int64
			var key string
			err := rows.Scan(&owner, &key, &n)
			c.add(Names, Duplicate, "%d active rows of %s under %d have the name key %q", n, resource, owner, key)
			return err
		})
		if err != nil {
			return err
		}
		for _, m := range c.made[resource] {
			if r, there := c.rows[resource][m.row]; there {
				c.name(resource, m, r)
			}
		}
	}
	return nil
}

func (c *checker) name(resource string, m request, r *row) {
	// An activation, and a deletion that is taken back, may rename the row.
	given := c.history.of(resource, r.id, journal.Rename, journal.Activate, journal.Cancel)
	e, settled := last(given)
	if len(given) == 0 {
		for _, e := range c.history.keys[onKey{journal.Create, resource, m.owner, m.id, 0}] {
			if want := nameKey(resource, e.Value); string(r.key) != want {
				c.add(Names, Lost, "%s %d was made as %q, never renamed, and is called %q", resource, r.id, e.Value, r.name)
				return
			}
		}
		return
	}
	if settled && e.Op != journal.Cancel && string(r.key) != nameKey(resource, e.Value) {
		c.add(Names, Lost, "%s %d: the last name that was acknowledged is %q, by %s, and it is called %q", resource, r.id, e.Value, e.Op, r.name)
	}
	if string(r.key) != nameKey(resource, r.name) {
		c.add(Names, Lost, "%s %d is called %q and has the name key %q", resource, r.id, r.name, r.key)
	}
}

// updates demands that each acknowledged one was added once, each unknown one once or not.
func (c *checker) updates(context.Context) error {
	for id, r := range c.rows[load.ProjectResource] {
		var sure, maybe int64
		for _, e := range c.history.of(load.ProjectResource, id, journal.Update) {
			if e.Result == journal.OK {
				sure++
			} else {
				maybe++
			}
		}
		if r.hits < sure {
			c.add(Updates, Lost, "project %d was updated %d times and counts %d", id, sure, r.hits)
		}
		if r.hits > sure+maybe {
			c.add(Updates, Doubled, "project %d was updated at most %d times and counts %d", id, sure+maybe, r.hits)
		}
	}
	return nil
}

// deletes demands that a row that was deleted is gone, unless somebody may have taken the deletion back
// afterwards.
func (c *checker) deletes(context.Context) error {
	for id := range c.rows[load.ProjectResource] {
		cancels := c.history.of(load.ProjectResource, id, journal.Cancel)
		for _, e := range c.history.of(load.ProjectResource, id, journal.Delete) {
			if e.Result != journal.OK {
				continue
			}
			back := false
			for _, cancel := range cancels {
				// What removes the row at once cannot be taken back; what only hides it, or meets it hidden,
				// can.
				back = back || cancel.End > e.Start && (e.Grace || !e.Changed)
			}
			if !back {
				c.add(Deletes, Lost, "project %d was deleted (job %d), the deletion was not taken back, and the row is there", id, e.Number)
			}
		}
	}
	return nil
}
