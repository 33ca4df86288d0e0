package shell

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/onerow/onerow/cascade/internal/output"
)

// Stream prints findings as they come: lines, or the elements of a JSON array.
type Stream struct {
	a     *App
	json  bool
	line  func(any) string
	Count int // of the findings so far
}

// NewStream prints findings to standard output; line is one of them for a person.
func NewStream(a *App, asJSON bool, line func(any) string) *Stream {
	return &Stream{a: a, json: asJSON, line: line}
}

// Add prints one finding.
func (s *Stream) Add(v any) error {
	s.Count++
	if !s.json {
		_, err := fmt.Fprintln(s.a.Stdout, s.line(v))
		return err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	before := ",\n  "
	if s.Count == 1 {
		before = "[\n  "
	}
	_, err = fmt.Fprintf(output.JSONWriter{Out: s.a.Stdout}, "%s%s", before, text)
	return err
}

// End ends the array.
func (s *Stream) End() error {
	if !s.json {
		return nil
	}
	text := "\n]\n"
	if s.Count == 0 {
		text = "[]\n"
	}
	_, err := fmt.Fprint(s.a.Stdout, text)
	return err
}

// WithError leaves the last column out when it is empty throughout.
func WithError(titles []string, rows [][]string) ([]string, [][]string) {
	last := len(titles) - 1
	if slices.ContainsFunc(rows, func(row []string) bool { return row[last] != "" }) {
		return titles, rows
	}
	for i := range rows {
		rows[i] = rows[i][:last]
	}
	return titles[:last], rows
}

// PrintJSON prints a value, indented.
func PrintJSON(a *App, value any) error {
	encoder := json.NewEncoder(output.JSONWriter{Out: a.Stdout})
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
