package queue

import "time"

// State is where a job is in its life. See the package documentation.
type State string

// The states of a job. The last five are final, but for a job that is dead or has
// leftovers and is retried, and one that recover.Rows brings back.
const (
	Scheduled State = "scheduled" // in its grace period; it can be cancelled
	Held      State = "held"      // a cancel that could not be done keeps it from being worked, see Hold
	OnPause   State = "paused"    // taken from the workers by an operator, see PauseJob
	Ready     State = "ready"     // due, or waiting for its next attempt
	Running   State = "running"   // claimed by a worker
	Done      State = "done"      // nothing is left, or what was skipped
	Leftovers State = "leftovers" // everything is gone but parked rows and what is above them
	Cancelled State = "cancelled" // cancelled during its grace period; nothing was deleted
	Restored  State = "restored"  // what was kept is back from the trash; Report.Restored says how many rows
	Dead      State = "dead"      // failed too often; see Job.LastError
)

// Open says whether a job in this state is still to be worked.
func (s State) Open() bool {
	return s == Scheduled || s == Held || s == OnPause || s == Ready || s == Running
}

// Job is the cascade of one deletion, as it was when it was read. Times are UTC, by
// the database's clock; the zero time where there is none.
type Job struct {
	ID int64 `json:"id"`
	// Resource and ResourceID name the root row; the id is encoded, see
	// [onerow.EncodeKey].
	Resource   string `json:"resource"`
	ResourceID string `json:"resource_id"`
	// DeletionID is the logged deletion that the job belongs to. A later deletion
	// during its grace period does not change it.
	DeletionID int64 `json:"deletion_id"`
	// State as it is shown: a scheduled job whose time has come is shown as ready.
	State State `json:"state"`
	// DueAt is when a worker may take an open job; of one that is held or paused, when it could if
	// it were not.
	DueAt      time.Time `json:"due_at,omitzero"`
	CreatedAt  time.Time `json:"created_at,omitzero"`
	StartedAt  time.Time `json:"started_at,omitzero"` // the first claim
	FinishedAt time.Time `json:"finished_at,omitzero"`
	// Worker is the name of the worker that claimed it last.
	Worker string `json:"worker,omitempty"`
	// Token is the lease token: the number of claims there were.
	Token int64 `json:"token"`
	// Failures is how often it failed since it was enqueued or retried.
	Failures int `json:"failures"`
	// LastError is what went wrong last, shortened. It stays when a later attempt succeeds.
	LastError string `json:"last_error,omitempty"`
	// DeletedRows is how many rows below the root were deleted so far: the sum of Tables.
	DeletedRows int64 `json:"deleted_rows"`
	// Tables is how many rows of each table were deleted.
	Tables map[string]int64 `json:"tables"`
	// DetachedRows is how many references to deleted rows were set NULL so far in rows that
	// stay: the sum of Detached.
	DetachedRows int64 `json:"detached_rows"`
	// Detached is how many rows of each table were detached.
	Detached map[string]int64 `json:"detached,omitempty"`
	// Parked is how many rows could not be deleted and wait for somebody, see [ListParked].
	Parked int64 `json:"parked"`
	// Skipped is how many of them somebody has skipped.
	Skipped int64 `json:"skipped"`
	// Plan is the fingerprint of the plan that the job was begun under; "" before its first batch.
	Plan string `json:"plan,omitempty"`
}
