package onerow_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/flow/sqs"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/ordering"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/adopt"
	"github.com/onerow/onerow/schema/discover"
	"github.com/onerow/onerow/serial"
)

// sentinels are those that docs/ERRORS.md names.
var sentinels = map[string]error{
	"onerow.ErrNotFound": onerow.ErrNotFound, "onerow.ErrMoved": onerow.ErrMoved, "onerow.ErrOutcomeUnknown": onerow.ErrOutcomeUnknown,
	"onerow.ErrTooLarge": onerow.ErrTooLarge, "onerow.ErrInvalidKey": onerow.ErrInvalidKey, "onerow.ErrTxPoisoned": onerow.ErrTxPoisoned,
	"onerow.ErrNotUndone": onerow.ErrNotUndone, "onerow.ErrTxEnded": onerow.ErrTxEnded, "onerow.ErrEndsTx": onerow.ErrEndsTx,
	"onerow.ErrRowsOpen": onerow.ErrRowsOpen, "onerow.ErrNotOneRow": onerow.ErrNotOneRow, "onerow.ErrNoTransaction": onerow.ErrNoTransaction,
	"pool.ErrSetting": pool.ErrSetting, "pool.ErrNoHost": pool.ErrNoHost,
	"repo.ErrNameTaken": repo.ErrNameTaken, "repo.ErrRequestMismatch": repo.ErrRequestMismatch, "repo.ErrParentNotFound": repo.ErrParentNotFound,
	"repo.ErrParentArchived": repo.ErrParentArchived, "repo.ErrNotActive": repo.ErrNotActive, "repo.ErrBeingDeleted": repo.ErrBeingDeleted,
	"repo.ErrChildrenStoreOwner": repo.ErrChildrenStoreOwner, "repo.ErrGone": repo.ErrGone, "repo.ErrConflict": repo.ErrConflict,
	"repo.ErrTooLate": repo.ErrTooLate, "repo.ErrNoDeletion": repo.ErrNoDeletion, "repo.ErrNoFreeName": repo.ErrNoFreeName,
	"repo.ErrOtherOwner": repo.ErrOtherOwner, "repo.ErrInvalidCursor": repo.ErrInvalidCursor, "repo.ErrInvalidFilter": repo.ErrInvalidFilter,
	"repo.ErrUnsupported": repo.ErrUnsupported, "repo.ErrIDReused": repo.ErrIDReused,
	"names.ErrTooManyCopies": names.ErrTooManyCopies, "names.ErrEmpty": names.ErrEmpty, "names.ErrInvalid": names.ErrInvalid,
	"names.ErrTooLong": names.ErrTooLong,
	"limit.ErrLimit":   limit.ErrLimit, "limit.ErrAmount": limit.ErrAmount, "limit.ErrOtherReservation": limit.ErrOtherReservation,
	"limit.ErrFollow": limit.ErrFollow, "limit.ErrUnknown": limit.ErrUnknown,
	"quota.ErrNoQuota": quota.ErrNoQuota, "quota.ErrNoOwner": quota.ErrNoOwner,
	"idempotency.ErrMismatch": idempotency.ErrMismatch, "idempotency.ErrBusy": idempotency.ErrBusy,
	"idempotency.ErrInProgress": idempotency.ErrInProgress, "idempotency.ErrFailed": idempotency.ErrFailed, "idempotency.ErrLost": idempotency.ErrLost,
	"idempotency.ErrCompletionLost": idempotency.ErrCompletionLost, "idempotency.ErrTooLarge": idempotency.ErrTooLarge,
	"idempotency.ErrCodec": idempotency.ErrCodec, "idempotency.ErrField": idempotency.ErrField, "idempotency.ErrUndone": idempotency.ErrUndone,
	"idempotency.ErrInvalid":      idempotency.ErrInvalid,
	"httpkey.ErrResponseTooLarge": httpkey.ErrResponseTooLarge, "httpkey.ErrStatus": httpkey.ErrStatus, "httpkey.ErrKeyMissing": httpkey.ErrKeyMissing,
	"httpkey.ErrKeyMalformed": httpkey.ErrKeyMalformed, "httpkey.ErrNoTx": httpkey.ErrNoTx, "httpkey.ErrNoClaim": httpkey.ErrNoClaim,
	"httpkey.ErrBuffered": httpkey.ErrBuffered, "httpkey.ErrFinished": httpkey.ErrFinished, "httpkey.ErrInvalidConfig": httpkey.ErrInvalidConfig,
	"keyadmin.ErrNoKey": keyadmin.ErrNoKey, "keyadmin.ErrChanged": keyadmin.ErrChanged,
	"flow.ErrSuperseded": flow.ErrSuperseded, "flow.ErrFinished": flow.ErrFinished, "flow.ErrLost": flow.ErrLost, "flow.ErrNoStep": flow.ErrNoStep,
	"flow.ErrOwned": flow.ErrOwned, "flow.ErrInvalidArgument": flow.ErrInvalidArgument,
	"sqs.ErrMessage": sqs.ErrMessage, "sqs.ErrExhausted": sqs.ErrExhausted,
	"ordering.ErrHeld": ordering.ErrHeld, "ordering.ErrTooManyHeld": ordering.ErrTooManyHeld, "ordering.ErrConflict": ordering.ErrConflict,
	"ordering.ErrState": ordering.ErrState, "ordering.ErrInvalidArgument": ordering.ErrInvalidArgument,
	"serial.ErrMismatch": serial.ErrMismatch, "serial.ErrExhausted": serial.ErrExhausted, "serial.ErrVoided": serial.ErrVoided,
	"serial.ErrNoClaim": serial.ErrNoClaim, "serial.ErrInvalidArgument": serial.ErrInvalidArgument,
	"schema.ErrInvalidPlan": schema.ErrInvalidPlan, "schema.ErrUnknownResource": schema.ErrUnknownResource,
	"discover.ErrNoPlan": discover.ErrNoPlan, "discover.ErrUnknownTable": discover.ErrUnknownTable,
	"adopt.ErrNotReady":     adopt.ErrNotReady,
	"crashtest.ErrSurvives": crashtest.ErrSurvives,
	"queue.ErrNoJob":        queue.ErrNoJob, "queue.ErrTooLate": queue.ErrTooLate, "queue.ErrWrongState": queue.ErrWrongState,
	"queue.ErrOpenJob": queue.ErrOpenJob, "queue.ErrOtherDeletion": queue.ErrOtherDeletion, "queue.ErrInvalid": queue.ErrInvalid,
	"recover.ErrNotKept": recover.ErrNotKept,
}

// TestAnswers: docs/ERRORS.md gives each sentinel the status that Answer gives it, 500 where it gives none,
// and no text tells what is for the log.
func TestAnswers(t *testing.T) {
	page, err := os.ReadFile("docs/ERRORS.md")
	if err != nil {
		t.Fatal(err)
	}
	answer := regexp.MustCompile(`^[45]\d\d\b`)
	name := regexp.MustCompile("`([a-z]+\\.Err[A-Z][A-Za-z]*)`")
	seen := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 3 || !strings.HasPrefix(line, "| `") {
			continue
		}
		want := answer.FindString(cells[2])
		if want == "" {
			want = "500"
		}
		for _, name := range name.FindAllStringSubmatch(cells[0], -1) {
			seen++
			sentinel := sentinels[name[1]]
			if sentinel == nil {
				t.Errorf("add %s to sentinels", name[1])
				continue
			}
			status, text := onerow.Answer(fmt.Errorf("a verb: %w", sentinel))
			if strconv.Itoa(status) != want {
				t.Errorf("%s answers %d, docs/ERRORS.md says %s", name[1], status, want)
			}
			if text == "" || (status == 500) != (text == "internal error") || strings.ContainsAny(text, "_`\"%") || len(text) > 70 {
				t.Errorf("%s answers %d %q", name[1], status, text)
			}
		}
	}
	if seen != len(sentinels) {
		t.Errorf("docs/ERRORS.md has %d errors in its tables, sentinels %d", seen, len(sentinels))
	}
}

// TestAnswerOfDetails: a detail answers as its sentinel does, whatever it wraps, and the outermost decides.
func TestAnswerOfDetails(t *testing.T) {
	driver := errors.New("Duplicate entry 'secret' for key 'one_name'")
	for name, c := range map[string]struct {
		err    error
		status int
		text   string
	}{
		"nil":              {nil, 200, ""},
		"another's":        {driver, 500, "internal error"},
		"a name":           {fmt.Errorf("a: %w", &repo.NameTakenError{Name: "secret", Err: driver}), 409, "the name is taken"},
		"a bad name":       {&names.Error{Err: names.ErrTooLong}, 400, "the name is too long"},
		"an index":         {&repo.ConflictError{Err: driver}, 409, "it conflicts with another one, or others changed it meanwhile"},
		"an archived row":  {fmt.Errorf("a: %w: b", repo.ErrParentArchived), 409, "what it belongs to is archived"},
		"a going row":      {fmt.Errorf("a: %w: b", repo.ErrBeingDeleted), 409, "it is being deleted"},
		"a limit":          {fmt.Errorf("a: %w", &limit.Error{Limit: "secret"}), 422, "the limit is reached"},
		"an unknown end":   {fmt.Errorf("a: %w", &onerow.OutcomeUnknownError{Err: driver}), 503, "the outcome is unknown; send the same request again"},
		"a large request":  {&onerow.TooLargeError{Err: driver}, 413, "the request is too large"},
		"a large result":   {&idempotency.Error{Kind: idempotency.ErrTooLarge, Err: &onerow.TooLargeError{Err: driver}}, 500, "internal error"},
		"a lost result":    {&idempotency.Error{Kind: idempotency.ErrCompletionLost, Err: onerow.ErrOutcomeUnknown}, 500, "internal error"},
		"a busy key":       {&idempotency.Error{Kind: idempotency.ErrBusy, Err: onerow.ErrMoved}, 409, "a request with this key is being worked on; try again"},
		"a refused work":   {&idempotency.Error{Kind: idempotency.ErrFailed, Err: repo.ErrNameTaken}, 409, "the name is taken"},
		"a lost statement": {fmt.Errorf("%w: %w", onerow.ErrTxPoisoned, onerow.ErrMoved), 500, "internal error"},
		"too late":         {fmt.Errorf("%w: %w", repo.ErrTooLate, queue.ErrNoJob), 409, "too late: the deletion has begun"},
		"two at once":      {errors.Join(driver, onerow.ErrNotFound, repo.ErrGone), 404, "not found"},
		"tries used up":    {fmt.Errorf("a: %w", &mysql.MySQLError{Number: 1213}), 503, "the server is busy; try again"},
		"KILL QUERY":       {fmt.Errorf("a: %w", &mysql.MySQLError{Number: 1317}), 503, "the server is busy; try again"},
		"a long value":     {fmt.Errorf("a: %w", &mysql.MySQLError{Number: 1406, Message: "Data too long for column 'secret'"}), 400, "a value is too long, too large or of another type"},
		"a flow of others": {&flow.OwnedError{Owner: "secret"}, 500, "internal error"},
	} {
		if status, text := onerow.Answer(c.err); status != c.status || text != c.text {
			t.Errorf("%s answers %d %q, want %d %q", name, status, text, c.status, c.text)
		}
	}
	for _, c := range []struct{ err, is error }{
		{&onerow.OutcomeUnknownError{}, onerow.ErrOutcomeUnknown}, {&onerow.TooLargeError{Err: driver}, onerow.ErrTooLarge},
		{&onerow.TooLargeError{Err: driver}, driver}, {&limit.Error{}, limit.ErrLimit}, {repo.ErrParentArchived, repo.ErrParentNotFound},
		{repo.ErrBeingDeleted, repo.ErrParentNotFound},
	} {
		if !errors.Is(c.err, c.is) {
			t.Errorf("%v is no %v", c.err, c.is)
		}
	}
	if errors.Is(repo.ErrParentNotFound, repo.ErrParentArchived) || errors.Is(repo.ErrParentArchived, repo.ErrBeingDeleted) {
		t.Error("one error of the row above is another")
	}
}
