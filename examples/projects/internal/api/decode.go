package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/onerow/onerow/examples/projects/internal/problem"
)

// maxBody is the longest JSON body, in bytes: a comment of 10,000 characters, each escaped.
const maxBody = 128 << 10

// decode reads the one JSON object of a body into dest, strictly: it refuses text that is not Unicode, since
// names are compared by their bytes, and names that dest does not have or that are there twice.
func decode(w http.ResponseWriter, r *http.Request, dest any) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var tooBig *http.MaxBytesError
		if errors.As(err, &tooBig) {
			return err
		}
		return problem.New(http.StatusBadRequest, "The body ended before it was complete.")
	}
	text := bytes.TrimSpace(body)
	if len(text) == 0 {
		return problem.New(http.StatusBadRequest, "The body is empty; a JSON object is expected.")
	}
	if kind := r.Header.Get("Content-Type"); !isJSON(kind, text[0] == '{') {
		return problem.New(http.StatusUnsupportedMediaType, "The body must be application/json in UTF-8, not %q.", kind)
	}
	err = json.Unmarshal(body, dest, json.RejectUnknownMembers(true))
	var syntax *jsontext.SyntacticError
	var meaning *json.SemanticError
	switch {
	case errors.As(err, &syntax):
		return problem.New(http.StatusBadRequest, "The JSON is malformed %s: %s.", position(body, syntax.ByteOffset), syntax.Err)
	case errors.As(err, &meaning) && errors.Is(err, json.ErrUnknownName):
		return problem.New(http.StatusBadRequest, "The JSON has an unknown field %q %s.", meaning.JSONPointer.LastToken(), position(body, meaning.ByteOffset))
	case errors.As(err, &meaning) && meaning.JSONPointer != "":
		return problem.New(http.StatusBadRequest, "The field %q cannot be a JSON %s (%s).", meaning.JSONPointer.LastToken(), meaning.JSONKind, position(body, meaning.ByteOffset))
	case errors.As(err, &meaning):
		return problem.New(http.StatusBadRequest, "The body must be a JSON object, not a JSON %s.", meaning.JSONKind)
	}
	return err
}

// isJSON says whether a body of this Content-Type may be JSON. A body without a type is taken for JSON, and
// so is an object of the type that curl -d sends unless it is told otherwise.
func isJSON(contentType string, object bool) bool {
	if contentType == "" {
		return true
	}
	kind, params, err := mime.ParseMediaType(contentType)
	if charset := params["charset"]; err != nil || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return false
	}
	return kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json") ||
		object && kind == "application/x-www-form-urlencoded"
}

// position says where in the body an offset is.
func position(body []byte, offset int64) string {
	before := body[:max(0, min(offset, int64(len(body))))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("at line %d, column %d", line, column)
}

// field is a field that must be there.
func field(name string, value *string) (string, error) {
	if value == nil {
		return "", problem.New(http.StatusBadRequest, "The field %q is missing; it must be a text.", name)
	}
	return *value, nil
}
