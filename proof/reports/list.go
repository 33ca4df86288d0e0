package main

import "context"

// report is what somebody met with another tool, and the scene that would show it here.
type report struct {
	name, source string
	met          string // in our words
	run          func(ctx context.Context, s *scene) error
	but          string // what of it the library does not hold, and says so; empty: nothing
}

const github = "https://github.com/"

var reports = []report{
	{name: "second-index", source: github + "laravel/framework/issues/48235", run: secondIndex,
		met: "A create that falls back to reading the row was refused by another unique index than the one that it reads by. It found nothing, and handed its caller nothing instead of an error."},
	{name: "lookalikes", source: github + "sudara/alonetone/issues/732", run: alike,
		met: "Two comments of one emoji each counted as the same text, since the column's collation gives such characters one weight. The second was thrown away as a duplicate."},
	{name: "spelling", source: github + "unkeyed/unkey/issues/4091", run: keysBySpelling,
		met: "Generated ids used both cases, and the columns that held them compared without case. Two ids could be one, so they had less entropy than was thought."},
	{name: "twice-deleted", source: github + "magnusvk/counter_culture/pull/266", run: deletedTwice,
		met: "Two requests deleted one row at the same moment, and both took one from the counter. The counter went below the number of rows, and an unsigned one fails at zero."},
	{name: "numbers", source: github + "PrestaShop/PrestaShop/issues/42821", run: sameMoment,
		met: "The next invoice number was the highest one and one, read without a lock into a column without a unique key. Orders that were validated at the same moment got the same number."},
	{name: "ten-workers", source: github + "laravel/framework/issues/31660", run: tenWorkers,
		met: "Ten workers of a queue in a table took and deleted jobs by two indexes in different orders. Of ten thousand jobs some hundred were marked as failed by deadlocks."},
	{name: "zones", source: github + "collectiveidea/delayed_job/issues/1021", run: scheduled,
		met: "A job was stored with the right time and run two hours late. The programs that stored and compared it did not agree on the time zone."},
	{name: "later-commit", source: github + "prooph/pdo-event-store/issues/189", run: laterCommit,
		met: "Readers went on from the highest id that they had seen. A transaction with a lower id that committed later was never read."},
	{name: "replies", source: github + "TryGhost/Ghost/pull/29682", run: replies,
		met: "Comments refer to each other by one foreign key that cascades and one that sets NULL, and posts with answered answers could not be deleted at all. With two that cascade the server's bound of 15 levels came in the way."},
	{name: "reattached", source: github + "makinacorpus/django-safedelete/issues/244", run: reattached,
		met: "A soft deletion set the references of rows that stay to NULL. When the row came back nobody knew which rows had referred to it."},
	{name: "reused-id", source: github + "mterwill/office-hours-help-queue/issues/34", run: reused,
		but: "in a part: a row that is gone for good, before its worker came, is not seen by Verify: the new row stays, and so does what was below the old one",
		met: "The newest course was deleted, what was below it was not yet, and the server restarted and gave its id again. The next course had the staff and the queue of the old one."},
	{name: "retained", source: github + "langgenius/dify/issues/40998", run: retained,
		met: "What was too old was decided by the host's local time, and the column held UTC. So rows were deleted hours too early or too late, without an error."},
	{name: "groomed", source: github + "ironmansoftware/powershell-universal/issues/5497", run: groomed,
		met: "Jobs refer to the job that began them by a foreign key, and the clean-up deleted parents before their children. It failed in each round, and nothing was ever deleted."},
	{name: "replays", source: github + "fullstackhero/dotnet-starter-kit/pull/1333", run: replays,
		met: "A replay under an idempotency key came as 200 where the first answer was 201, and without Location and ETag. Requests to two paths of one route counted as one."},
	{name: "failed-first", source: github + "KeeperHub/keeperhub/pull/1849", run: failedFirst,
		met: "A failure was stored under the key and answered again for ever, in the same bytes. The client took the replays for new failures of a call that was not made."},
	{name: "same-second", source: github + "promhippie/github_exporter/pull/312", run: sameSecond,
		but: "by times the second message of a second is refused in either order, and its caller is told; numbers keep both",
		met: "A webhook that a job has begun came behind the one that it had ended, both with the time of the same second. The job was shown as running for ever."},
	{name: "same-instant", source: github + "mlflow/mlflow/pull/25200", run: sameInstant,
		met: "The generation of a lease was the time of its claim in milliseconds. Renewed within the same millisecond it did not change, and an old holder was let in."},
	{name: "answers-lost", source: github + "go-sql-driver/mysql/issues/1652", run: answersLost,
		met: "A connection was lost after the INSERT was sent and before its answer came. The caller tried again, and there were two rows."},
	{name: "half-migrated", source: github + "mlflow/mlflow/issues/23721", run: halfMigrated,
		met: "A container was restarted in the midst of a migration, whose DDL had committed by itself while its version was not noted. Each later start failed with a table that exists already."},
	{name: "swallowed", source: github + "doctrine/dbal/issues/4279", run: swallowed,
		met: "A deadlock ended the transaction, and the layer above believed that it was still within a savepoint of it. What followed was committed statement by statement."},
}
