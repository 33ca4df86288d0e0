package httpkey

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/onerow/onerow/idempotency"
)

const docs = "https://pkg.go.dev/github.com/onerow/onerow/idempotency/httpkey#"

// The types of the problems that this package answers with, for clients to compare with.
const (
	// ProblemKeyMissing, 400: send a key.
	ProblemKeyMissing = docs + "ProblemKeyMissing"
	// ProblemKeyMalformed, 400: see [ParseKey].
	ProblemKeyMalformed = docs + "ProblemKeyMalformed"
	// ProblemRequestUnreadable, 400: the body broke off.
	ProblemRequestUnreadable = docs + "ProblemRequestUnreadable"
	// ProblemTenant, 403: it is not known whose key this is.
	ProblemTenant = docs + "ProblemTenant"
	// ProblemInFlight, 409 with Retry-After: send the same request again later.
	ProblemInFlight = docs + "ProblemInFlight"
	// ProblemUnclear, 409: the first request has no answer, and whether the work was done has to be found out
	// by a human; a new key may do it twice. 500 for a request without a key whose COMMIT was not answered.
	ProblemUnclear = docs + "ProblemUnclear"
	// ProblemRequestTooLarge, 413.
	ProblemRequestTooLarge = docs + "ProblemRequestTooLarge"
	// ProblemMismatch, 422: the key was used for another request; new work needs a new key.
	ProblemMismatch = docs + "ProblemMismatch"
	// ProblemUnstorable, 500: the handler gave an answer that cannot be stored.
	ProblemUnstorable = docs + "ProblemUnstorable"
	// ProblemInternal, 500: the service uses this package wrongly, or a stored answer cannot be read.
	ProblemInternal = docs + "ProblemInternal"
	// ProblemStore, 503 with Retry-After: send the same request again later.
	ProblemStore = docs + "ProblemStore"
)

// Problem is the body of such an answer (RFC 9457).
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// The problems. Their texts are constant, so that nothing of a request comes back.
var (
	keyMissing = Problem{ProblemKeyMissing, "Idempotency-Key is missing", http.StatusBadRequest,
		"This operation needs the header Idempotency-Key: a string that is unique to the operation and the same each time it is tried."}
	keyMalformed = Problem{ProblemKeyMalformed, "Idempotency-Key is malformed", http.StatusBadRequest,
		"Send one header with 1 to 255 characters of printable ASCII, in double quotes, or without them if it has no space, quote, comma or semicolon."}
	requestUnreadable = Problem{ProblemRequestUnreadable, "The request could not be read", http.StatusBadRequest,
		"Nothing was done. Send the request again with the same key."}
	noTenant        = Problem{ProblemTenant, "The owner of the key is not known", http.StatusForbidden, "Nothing was done."}
	inFlight        = Problem{ProblemInFlight, "A request with this Idempotency-Key is being processed", http.StatusConflict, "Send the same request with the same key again later to get its answer."}
	unclear         = Problem{ProblemUnclear, "The outcome of the first request is not known", http.StatusConflict, "The first request with this key failed in a way that has to be looked at. Sending it with another key may do the work twice."}
	unclearCommit   = Problem{ProblemUnclear, "The outcome of the request is not known", http.StatusInternalServerError, "It may have been processed. With an Idempotency-Key it could be sent again."}
	requestTooLarge = Problem{ProblemRequestTooLarge, "The request is too large", http.StatusRequestEntityTooLarge, "Nothing was done."}
	mismatch        = Problem{ProblemMismatch, "Idempotency-Key was used for another request", http.StatusUnprocessableEntity, "A key stands for one method, host, path, query and body. Use a new key for a new request."}
	unstorable      = Problem{ProblemUnstorable, "The answer cannot be stored", http.StatusInternalServerError, ""}
	internal        = Problem{ProblemInternal, "The request cannot be processed", http.StatusInternalServerError, ""}
	storeDown       = Problem{ProblemStore, "The request cannot be processed now", http.StatusServiceUnavailable, "Send the same request with the same key again later."}
)

const (
	leastRetryAfter = time.Second
	mostRetryAfter  = 5 * time.Second // an expected completion is when to worry, not when to ask again
)

func (m *Middleware) refuse(w http.ResponseWriter, r *http.Request, err error) {
	detail, detailed := errors.AsType[*idempotency.Error](err)
	switch {
	case errors.Is(err, idempotency.ErrInProgress) && detailed:
		retryAfter(w, detail.RetryAfter)
		m.problem(w, r, inFlight, err)
	case errors.Is(err, idempotency.ErrMismatch):
		m.problem(w, r, mismatch, err)
	case errors.Is(err, idempotency.ErrFailed):
		m.problem(w, r, unclear, err)
	case errors.Is(err, idempotency.ErrBusy) && !networkFailed(err):
		retryAfter(w, leastRetryAfter)
		m.problem(w, r, inFlight, err)
	case errors.Is(err, idempotency.ErrTooLarge), errors.Is(err, ErrResponseTooLarge), errors.Is(err, ErrStatus):
		m.problem(w, r, unstorable, err)
	case errors.Is(err, idempotency.ErrCodec), errors.Is(err, idempotency.ErrInvalid):
		m.problem(w, r, internal, err)
	default:
		retryAfter(w, leastRetryAfter)
		m.problem(w, r, storeDown, err)
	}
}

// networkFailed tells a wait that ended because the database was away from one at the key.
func networkFailed(err error) bool {
	_, network := errors.AsType[*net.OpError](err)
	return network || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, driver.ErrBadConn)
}

func retryAfter(w http.ResponseWriter, d time.Duration) {
	d = min(max(d, leastRetryAfter), mostRetryAfter)
	w.Header().Set("Retry-After", strconv.Itoa(int((d+time.Second-1)/time.Second)))
}

// problem answers with a problem; err goes to the log only.
func (m *Middleware) problem(w http.ResponseWriter, r *http.Request, p Problem, err error) {
	level := slog.LevelDebug
	if p.Status >= http.StatusInternalServerError || p.Type == ProblemUnclear {
		level = slog.LevelError
	}
	m.cfg.Log.Log(r.Context(), level, "httpkey: "+p.Title, "status", p.Status, "method", r.Method, "pattern", r.Pattern, "error", err)
	body, err := json.Marshal(p)
	if err != nil { // four strings and a number
		m.cfg.Log.ErrorContext(r.Context(), "httpkey: encode a problem", "error", err)
	}
	header := w.Header().Clone()
	header.Set("Content-Type", "application/problem+json")
	header.Del("Content-Encoding")
	m.send(w, r, answer{status: p.Status, header: header, body: append(body, '\n')})
}
