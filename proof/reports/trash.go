package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// comments are below a post and below each other, and refer to the one that they answer.
var comments = schema.Plan{Tables: []schema.Table{
	{Name: "post", Key: []string{"id"}},
	{Name: "comment", Key: []string{"id"}, Parents: []schema.Edge{
		{Table: "post", Columns: []string{"post_id"}},
		{Table: "comment", Columns: []string{"parent_id"}},
		{Table: "comment", Columns: []string{"in_reply_to"}, OnDelete: schema.OnDeleteDetach},
	}},
}}

var commentRows = []string{
	"CREATE TABLE post (id INT PRIMARY KEY) ENGINE=InnoDB",
	`CREATE TABLE comment (id INT PRIMARY KEY, post_id INT NOT NULL, parent_id INT NULL, in_reply_to INT NULL, KEY post_id (post_id), KEY parent_id (parent_id), KEY in_reply_to (in_reply_to),
FOREIGN KEY (post_id) REFERENCES post (id) ON DELETE CASCADE, FOREIGN KEY (parent_id) REFERENCES comment (id) ON DELETE CASCADE,
FOREIGN KEY (in_reply_to) REFERENCES comment (id) ON DELETE SET NULL) ENGINE=InnoDB`,
	"INSERT INTO post VALUES (1), (2)",
	"INSERT INTO comment VALUES (1, 1, NULL, NULL)",
}

// replies deletes a post whose comments answer each other in a chain of forty, one of them from below another
// post.
func replies(ctx context.Context, s *scene) error {
	if err := s.plant(ctx, comments, commentRows...); err != nil {
		return err
	}
	for id := 2; id <= 40; id++ {
		if _, err := s.plain.ExecContext(ctx, "INSERT INTO comment VALUES (?, 1, 1, ?)", id, id-1); err != nil {
			return err
		}
	}
	if err := s.exec(ctx, "INSERT INTO comment VALUES (100, 2, NULL, NULL), (101, 2, 100, 40)"); err != nil {
		return err
	}
	tx, err := s.plain.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	_, plain := tx.ExecContext(ctx, "DELETE FROM post WHERE id = 1")
	if s.note = fmt.Sprintf("by hand: error %d of DELETE FROM post", number(plain)); plain == nil {
		s.note = "by hand: no error on this server"
	}
	if err := first(tx.Rollback(), live.Verify(ctx, s.db, comments)); err != nil {
		return err
	}
	job, err := queue.Enqueue(ctx, s.db, queue.Deletion{Resource: "post", ResourceID: key(1)})
	if err := first(err, s.drain(ctx, comments)); err != nil {
		return err
	}
	job, err = queue.Get(ctx, s.db, job.ID)
	return first(err,
		unless(job.State == queue.Done && job.Failures == 0 && job.DeletedRows == 40 && job.DetachedRows == 1, "%+v", job),
		s.want(ctx, 0, "SELECT COUNT(*) FROM post WHERE id = 1"), s.want(ctx, 0, "SELECT COUNT(*) FROM comment WHERE post_id = 1"),
		s.want(ctx, 1, "SELECT COUNT(*) FROM comment WHERE id = 101 AND parent_id = 100 AND in_reply_to IS NULL"))
}

// teams have members who stay when the team goes.
var teams = schema.Plan{Trash: schema.Age(24 * time.Hour), Tables: []schema.Table{
	{Name: "team", Key: []string{"id"}},
	{Name: "member", Key: []string{"id"}, Parents: []schema.Edge{{Table: "team", Columns: []string{"team_id"}, OnDelete: schema.OnDeleteDetach}}},
}}

// reattached deletes a team, lets a member join another, and brings the team back.
func reattached(ctx context.Context, s *scene) error {
	err := s.plant(ctx, teams, "CREATE TABLE team (id INT PRIMARY KEY) ENGINE=InnoDB",
		"CREATE TABLE member (id INT PRIMARY KEY, team_id INT NULL, KEY team_id (team_id), FOREIGN KEY (team_id) REFERENCES team (id)) ENGINE=InnoDB",
		"INSERT INTO team VALUES (1), (2)", "INSERT INTO member VALUES (1, 1), (2, 1), (3, 1), (4, 2), (5, NULL)")
	if err != nil {
		return err
	}
	job, err := queue.Enqueue(ctx, s.db, queue.Deletion{Resource: "team", ResourceID: key(1)})
	if err := first(err, s.drain(ctx, teams), s.want(ctx, 4, "SELECT COUNT(*) FROM member WHERE team_id IS NULL"),
		s.exec(ctx, "UPDATE member SET team_id = 2 WHERE id = 3")); err != nil {
		return err
	}
	_, p, err := recover.Job(ctx, s.db, teams, job.ID, recover.Options{})
	return first(err, unless(p.References == 2 && p.Changed == 1, "%+v", p),
		s.want(ctx, 1, "SELECT COUNT(*) FROM team WHERE id = 1"), s.want(ctx, 2, "SELECT COUNT(*) FROM member WHERE team_id = 1 AND id IN (1, 2)"),
		s.want(ctx, 2, "SELECT COUNT(*) FROM member WHERE team_id = 2 AND id IN (3, 4)"), s.want(ctx, 1, "SELECT COUNT(*) FROM member WHERE team_id IS NULL"))
}

// fallBack is what a rebuilt table or a restart of an old server makes of a counter: the highest id that
// there is, and one.
const fallBack = "ALTER TABLE project AUTO_INCREMENT = 1"

// reused loses the counter twice: while a deletion hides its row, which the start of a program finds, and
// where a row is gone for good and what is below it is not, which it does not.
func reused(ctx context.Context, s *scene) error {
	rows, err := s.projects(ctx, 2)
	if err != nil {
		return err
	}
	deleted, err := rows.Delete(ctx, s.db, 2, repo.Grace(2*time.Second))
	if err := first(err, s.exec(ctx, fallBack)); err != nil {
		return err
	}
	var e *live.VerifyError
	if err := live.Verify(ctx, s.db, projectPlan); !errors.As(err, &e) || len(e.Differences) != 1 || e.Differences[0].SQL == "" {
		return fmt.Errorf("the start of a program is not refused: %w", err)
	}
	if err := s.exec(ctx, e.Differences[0].SQL); err != nil {
		return err
	}
	fresh, err := rows.Create(ctx, s.db, project{UserID: 7, Name: "fresh"})
	if err := first(err, unless(fresh.Row.ID > 2, "the id %d was given again", fresh.Row.ID)); err != nil {
		return err
	}
	if _, err := fuzz.Within(ctx, 15*time.Second, func() (bool, error) {
		err := s.drain(ctx, projectPlan)
		job, gerr := queue.Get(ctx, s.db, deleted.JobID)
		return job.State == queue.Done, first(err, gerr)
	}); err != nil {
		return err
	}
	if err := first(s.want(ctx, 2, "SELECT COUNT(*) FROM screen WHERE project_id = 1"), s.want(ctx, 2, "SELECT COUNT(*) FROM screen"), s.want(ctx, 2, "SELECT COUNT(*) FROM project")); err != nil {
		return err
	}
	return reusedUnseen(ctx, s, rows)
}

// reusedUnseen deletes the project 1 as the last one, and makes another of its id before the worker comes.
// The new row stays and the job says why it does nothing; what is below it stays as well, and is the new
// row's.
func reusedUnseen(ctx context.Context, s *scene, rows *repo.Repo[project]) error {
	if err := s.exec(ctx, "DELETE FROM project WHERE id <> 1"); err != nil {
		return err
	}
	deleted, err := rows.Delete(ctx, s.db, 1)
	if err := first(err, s.exec(ctx, fallBack)); err != nil {
		return err
	}
	refused := live.Verify(ctx, s.db, projectPlan) != nil
	next, err := rows.Create(ctx, s.db, project{UserID: 7, Name: "next"})
	if err := first(err, unless(next.Row.ID == 1, "the id %d, and not 1", next.Row.ID), s.drain(ctx, projectPlan)); err != nil {
		return err
	}
	job, err := queue.Get(ctx, s.db, deleted.JobID)
	if err := first(err, unless(job.State == queue.Dead && job.LastError != "", "the job is %s: %s", job.State, job.LastError),
		s.want(ctx, 1, "SELECT COUNT(*) FROM project WHERE id = 1 AND name = 'next'")); err != nil {
		return err
	}
	var inherited int64
	err = s.plain.QueryRowContext(ctx, "SELECT COUNT(*) FROM screen WHERE project_id = 1").Scan(&inherited)
	s.note = fmt.Sprintf("a start was refused: %t, the new row found %d rows below it", refused, inherited)
	return err
}
