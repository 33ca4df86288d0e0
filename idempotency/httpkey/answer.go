package httpkey

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strconv"

	"github.com/onerow/onerow/internal/trace"
)

// Response is what is stored for a key, the result that an operator gives to keyadmin.Operator.Complete
// for a key of this package. Header has the values as bytes, because they need not be UTF-8.
type Response struct {
	Status int                 `json:"status"` // 200 to 999
	Header map[string][][]byte `json:"header,omitempty"`
	Body   []byte              `json:"body,omitempty"`
}

// answer is a whole answer, with the headers that are not stored.
type answer struct {
	status int
	header http.Header // canonical names
	body   []byte
}

// store is what of an answer is stored. [ErrResponseTooLarge] if it is too much.
func (m *Middleware) store(a answer) (Response, error) {
	s := Response{Status: a.status, Header: map[string][][]byte{}, Body: a.body}
	size := len(a.body)
	for name, values := range a.header {
		if !m.stored[name] {
			continue
		}
		list := make([][]byte, len(values)) // empty: the header is kept from being added
		for i, v := range values {
			list[i] = []byte(v)
			size += len(name) + len(v)
		}
		s.Header[name] = list
	}
	if size > m.cfg.MaxResponse {
		return Response{}, fmt.Errorf("%w: its body and headers have %d bytes, the limit is %d", ErrResponseTooLarge, size, m.cfg.MaxResponse)
	}
	return s, nil
}

// replay sends a stored answer. Of its headers only those go out that would be stored today.
func (m *Middleware) replay(w http.ResponseWriter, r *http.Request, s Response) {
	if s.Status < 200 || s.Status > 999 {
		m.problem(w, r, internal, fmt.Errorf("%w: the stored answer has the status %d", ErrStatus, s.Status))
		return
	}
	a := answer{status: s.Status, header: w.Header().Clone(), body: s.Body}
	if a.header == nil {
		a.header = http.Header{}
	}
	for name := range m.stored {
		delete(a.header, name)
		if list, kept := s.Header[name]; kept {
			values := make([]string, len(list))
			for i, v := range list {
				values[i] = string(v)
			}
			a.header[name] = values
		}
	}
	a.header.Set(HeaderReplayed, "true")
	trace.Of(r.Context()).Set(slog.Bool("onerow.replayed", true))
	m.send(w, r, a)
}

// send sends an answer. That the client has gone is no error: the answer is stored.
func (m *Middleware) send(w http.ResponseWriter, r *http.Request, a answer) {
	h := w.Header()
	clear(h)
	maps.Copy(h, a.header)
	if hasBody(a.status) {
		h.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	trace.Of(r.Context()).Set(slog.Int("http.response.status_code", a.status))
	w.WriteHeader(a.status)
	if !hasBody(a.status) || len(a.body) == 0 {
		return
	}
	if _, err := w.Write(a.body); err != nil {
		m.cfg.Log.DebugContext(r.Context(), "httpkey: the client did not take the answer, it gets it with the same key", "error", err)
	}
}

// StoredOneCommit is the default of [Config].Stored for [Middleware.OneCommit]: a success, a redirection to
// the outcome, and an error of the client's except a refusal, see [Refused]. What a 5xx has written is
// rolled back, so nothing was done and the next request may try.
func StoredOneCommit(status int) bool {
	return status < http.StatusInternalServerError && !Refused(status)
}

// keeps asks Config.Stored, or the form's default.
func (m *Middleware) keeps(status int, standard func(int) bool) bool {
	if m.cfg.Stored != nil {
		return m.cfg.Stored(status)
	}
	return standard(status)
}

// StoredTwoStep is the default of [Config].Stored for [Middleware.TwoStep]: all but a refusal, see [Refused].
// A 5xx is stored too: the handler had begun, and nobody knows how far it came.
func StoredTwoStep(status int) bool { return !Refused(status) }

// sentElsewhere says whether a status asks the client to send the same request to another place.
func sentElsewhere(status int) bool {
	return status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
}

// Refused says whether a status means that the request was turned away before its work began: it is to be
// sent to another place as it is (307, 308), it is not valid
// (400, 405, 406, 411 to 417, 421, 422, 426, 431), the client is not known or not allowed to (401, 403, 407),
// it collides with another one or came too early (408, 409, 423, 425, 428), or too often (429). Others, as
// 402 Payment Required and 404 Not Found, are results.
func Refused(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMisdirectedRequest, http.StatusUnprocessableEntity, http.StatusLocked,
		http.StatusTooEarly, http.StatusUpgradeRequired, http.StatusPreconditionRequired, http.StatusTooManyRequests, http.StatusRequestHeaderFieldsTooLarge:
		return true
	}
	return sentElsewhere(status) || status >= http.StatusMethodNotAllowed && status <= http.StatusConflict || status >= http.StatusLengthRequired && status <= http.StatusExpectationFailed
}
