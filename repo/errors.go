package repo

import (
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow/internal/answers"
	"github.com/onerow/onerow/schema"
)

// What a verb can answer beside [onerow.ErrNotFound], [onerow.ErrOutcomeUnknown]
// and the name errors of package names.
var (
	// ErrNameTaken means: another active row of the owner has this name, in some
	// spelling. errors.As with *[NameTakenError] says which.
	ErrNameTaken = answers.New(409, "the name is taken", "repo: the name is taken")
	// ErrGone means: the row that the request id once made has been deleted since, or given to another owner.
	// It is never made again.
	ErrGone = answers.New(410, "what this request made is gone", "repo: the row is gone")
	// ErrRequestMismatch means: this request id was used for something else.
	ErrRequestMismatch = answers.New(422, "this request id was used for another request", "repo: the request id was used with another payload")
	// ErrNotActive means: the row is archived; activate it first.
	ErrNotActive = answers.New(409, "it is archived; activate it first", "repo: the row is archived")
	// ErrParentNotFound means: the row above does not exist, or is going.
	ErrParentNotFound = answers.New(404, "what it belongs to was not found", "repo: the parent row does not exist")
	// ErrTooLate means: the deletion can no longer be cancelled.
	ErrTooLate = answers.New(409, "too late: the deletion has begun", "repo: too late to cancel the deletion")
	// ErrParentArchived means: the row above is archived, and the plan does not let rows be made there. It
	// is an ErrParentNotFound too.
	ErrParentArchived error = parentError{answers.New(409, "what it belongs to is archived", "repo: the parent row is archived")}
	// ErrConflict means: another unique index of the application's refused the row, or others kept moving it.
	// errors.As with *[ConflictError] says which index, and who has the values.
	ErrConflict = answers.New(409, "it conflicts with another one, or others changed it meanwhile", "repo: conflict")
	// ErrNoFreeName means: no free copy number was found.
	ErrNoFreeName = answers.New(409, "there are too many copies of this name", "repo: no free name")
	// ErrUnsupported means: the resource was not declared for this verb.
	ErrUnsupported = errors.New("repo: not supported by the resource")
)

// parentError is an [ErrParentNotFound] of a kind, whose text contradicts that one's.
type parentError struct{ error }

// Is makes it an ErrParentNotFound, which Unwrap does not: that one's answer is not this one's.
func (e parentError) Is(target error) bool { return target == ErrParentNotFound }

func (e parentError) Unwrap() error { return e.error }

// NameTakenError is the detail of [ErrNameTaken].
type NameTakenError struct {
	// Resource and Name are what was to be written.
	Resource, Name string
	// ID is the row that has the name, of the repository's ID type.
	ID any
	// Err is the driver's error.
	Err error
}

// Error says who has the name.
func (e *NameTakenError) Error() string {
	return fmt.Sprintf("repo: the %s name %q is taken by %s %v; choose another name", e.Resource, e.Name, e.Resource, e.ID)
}

// Unwrap returns [ErrNameTaken] and the driver's error.
func (e *NameTakenError) Unwrap() []error { return []error{ErrNameTaken, e.Err} }

// ConflictError is the detail of [ErrConflict].
type ConflictError struct {
	// Resource and ID name the row; ID is of the repository's ID type, nil where the row was to be created.
	Resource string
	ID       any
	// Index is the unique index of the active table that refused the row, Columns are its columns, and
	// HolderID, of the repository's ID type, is the active row that has the same values in them, by the
	// columns' collations; it may be another owner's. Empty and nil where others kept moving the row, and
	// where no row was seen to have the values: of an index on a prefix, an expression or a generated
	// column, of a value that the database rounds, of a table that a trigger writes to.
	Index    string
	Columns  []string
	HolderID any
	// Attempts is how often the write was tried, where Index does not say it all.
	Attempts int
	// Err is the driver's error, or nil where a guarded write found another version.
	Err error
}

// Error says what could not be written.
func (e *ConflictError) Error() string {
	row := fmt.Sprintf("%s %v", e.Resource, e.ID)
	if e.ID == nil {
		row = "the new " + e.Resource
	}
	switch {
	case e.Index != "":
		return fmt.Sprintf("repo: %s has the same %s as %s %v; the unique index %s allows one",
			row, strings.Join(e.Columns, ", "), e.Resource, e.HolderID, e.Index)
	case e.Err != nil:
		return fmt.Sprintf("repo: %s: a unique index refused it, and no row was seen to have its name or values: %v", row, e.Err)
	}
	return fmt.Sprintf("repo: %s was changed by others during each of %d attempts; read it again and decide anew", row, e.Attempts)
}

// Unwrap returns [ErrConflict] and the driver's error.
func (e *ConflictError) Unwrap() []error { return []error{ErrConflict, e.Err} }

// ErrIDReused means: the other table of the resource has another row of this id, so
// neither was touched. errors.As with *[IDReusedError] says where, and what to do.
var ErrIDReused = errors.New("repo: two rows have this id")

// IDReusedError is the detail of [ErrIDReused]. Ids come from AUTO_INCREMENT of the
// active table, which falls below the ids of archived rows when that table is rebuilt by
// copying it, or restored without its definition.
type IDReusedError struct {
	// Resource and ID are the row that the verb was called for; ID is of the repository's ID type.
	Resource string
	ID       any
	// Active and Table are the table that gives the ids, and the one that has another row of this id.
	Active, Table string
	// Err is the driver's error, or nil where nothing was written yet.
	Err error
}

// Error says what to do.
func (e *IDReusedError) Error() string {
	return fmt.Sprintf("repo: %s %v: %s has another row of this id, so neither was touched; raise AUTO_INCREMENT of %s above the highest id of both tables, "+
		"and give one of the two rows, with what refers to it, another id", e.Resource, e.ID, e.Table, e.Active)
}

// Unwrap returns [ErrIDReused] and the driver's error.
func (e *IDReusedError) Unwrap() []error { return []error{ErrIDReused, e.Err} }

// ErrInvalidFilter means: a value of Where, From or To is none that the column can have.
var ErrInvalidFilter = answers.New(400, "the filter has a value that cannot be", "repo: not a value of the column")

// NoIndexError is the detail of [ErrUnsupported] where no index that the plan declares serves a list.
type NoIndexError struct {
	// Resource is whose rows were to be listed.
	Resource string
	// Index is one that serves the list: to add to the resource's indexes, or, where there is one that is not
	// Archived, to declare so.
	Index schema.Index
}

// Error has the index as it stands in a plan file.
func (e *NoIndexError) Error() string {
	archived, rows := "", "rows"
	if e.Index.Archived {
		archived, rows = ", archived: true", "archived rows"
	}
	return fmt.Sprintf("%v: no index in the plan serves this list of the %s of %q; add indexes: [{columns: [%s]%s}]",
		ErrUnsupported, rows, e.Resource, strings.Join(e.Index.Columns, ", "), archived)
}

// Unwrap returns [ErrUnsupported].
func (e *NoIndexError) Unwrap() error { return ErrUnsupported }
