package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/onerow/onerow/examples/projects/internal/problem"
)

// maxBody is the longest JSON body, in bytes: a comment of 10,000 characters, each
// escaped.
const maxBody = 128 << 10

// decode reads the one JSON object of a body into dest, strictly. What
// encoding/json would quietly replace - bytes that are not UTF-8, halves of a
// surrogate pair - is refused, since names are compared by their bytes.
func decode(w http.ResponseWriter, r *http.Request, dest any) error {
	plainForm, err := mediaType(r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var tooBig *http.MaxBytesError
		if errors.As(err, &tooBig) {
			return err
		}
		return problem.New(http.StatusBadRequest, "The body ended before it was complete.")
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return problem.New(http.StatusBadRequest, "The body is empty; a JSON object is expected.")
	}
	if plainForm && bytes.TrimSpace(body)[0] != '{' {
		return unsupported("application/x-www-form-urlencoded")
	}
	if at := badText(body); at >= 0 {
		return problem.New(http.StatusBadRequest, "The JSON is not valid Unicode %s.", position(body, int64(at)))
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(dest); err != nil {
		return malformed(body, d, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return problem.New(http.StatusBadRequest, "There is something behind the JSON object %s.", position(body, d.InputOffset()))
	}
	return nil
}

// mediaType refuses what is certainly not JSON. No type is taken for JSON, and so
// is the type that curl -d sends unless it is told otherwise.
func mediaType(r *http.Request) (plainForm bool, err error) {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return false, nil
	}
	kind, params, err := mime.ParseMediaType(header)
	if err != nil {
		return false, unsupported(header)
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return false, unsupported(header)
	}
	switch {
	case kind == "application/json", strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"):
		return false, nil
	case kind == "application/x-www-form-urlencoded":
		return true, nil
	}
	return false, unsupported(header)
}

func unsupported(kind string) error {
	return problem.New(http.StatusUnsupportedMediaType, "The body must be application/json in UTF-8, not %q.", kind)
}

func malformed(body []byte, d *json.Decoder, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return problem.New(http.StatusBadRequest, "The JSON is malformed %s: %s.", position(body, syntax.Offset-1), syntax)
	case errors.As(err, &kind) && kind.Field != "":
		return problem.New(http.StatusBadRequest, "The field %q cannot be a JSON %s (%s).", kind.Field, kind.Value, position(body, kind.Offset))
	case errors.As(err, &kind):
		return problem.New(http.StatusBadRequest, "The body must be a JSON object, not a JSON %s.", kind.Value)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return problem.New(http.StatusBadRequest, "The JSON is malformed %s: it ends too early.", position(body, int64(len(body))))
	}
	// An unknown field has no type of its own; its text is `json: unknown field "x"`.
	return problem.New(http.StatusBadRequest, "The JSON cannot be used %s: %s.", position(body, d.InputOffset()), strings.TrimPrefix(err.Error(), "json: "))
}

// position says where in the body an offset is.
func position(body []byte, offset int64) string {
	before := body[:max(0, min(offset, int64(len(body))))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("at line %d, column %d", line, column)
}

// badText returns the index of the first byte that is not UTF-8, or of the first
// \u escape that is half of a surrogate pair, or -1.
func badText(body []byte) int {
	for i := 0; i < len(body); {
		if body[i] == '\\' && i+1 < len(body) {
			high, ok := escape(body[i:])
			switch {
			case !ok:
				i += 2 // another escape, or a malformed one, which is the decoder's
			case !utf16.IsSurrogate(high):
				i += escapeLen
			default:
				low, ok := escape(body[i+escapeLen:])
				if !ok || utf16.DecodeRune(high, low) == utf8.RuneError {
					return i
				}
				i += 2 * escapeLen
			}
			continue
		}
		r, size := utf8.DecodeRune(body[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

const escapeLen = len(`\u0000`)

// escape reads \uXXXX at the beginning of b.
func escape(b []byte) (rune, bool) {
	if len(b) < escapeLen || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:escapeLen]), 16, 16)
	return rune(n), err == nil
}

// field is a field that must be there.
func field(name string, value *string) (string, error) {
	if value == nil {
		return "", problem.New(http.StatusBadRequest, "The field %q is missing; it must be a text.", name)
	}
	return *value, nil
}

// reply sends a JSON answer.
func reply(w http.ResponseWriter, status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("api: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if _, err := w.Write(append(text, '\n')); err != nil {
		return nil //nolint:nilerr // the client is gone; the status was sent
	}
	return nil
}
