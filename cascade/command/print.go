package command

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/onerow/onerow/cascade/internal/output"
)

// stream prints findings as they come: lines, or the elements of a JSON array.
type stream struct {
	a    *app
	json bool
	line func(any) string
	n    int
}

func (s *stream) add(v any) error {
	s.n++
	if !s.json {
		_, err := fmt.Fprintln(s.a.stdout, s.line(v))
		return err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	before := ",\n  "
	if s.n == 1 {
		before = "[\n  "
	}
	_, err = fmt.Fprintf(output.JSONWriter{Out: s.a.stdout}, "%s%s", before, text)
	return err
}

func (s *stream) end() error {
	if !s.json {
		return nil
	}
	text := "\n]\n"
	if s.n == 0 {
		text = "[]\n"
	}
	_, err := fmt.Fprint(s.a.stdout, text)
	return err
}

// withError leaves the last column out when it is empty throughout.
func withError(titles []string, rows [][]string) ([]string, [][]string) {
	last := len(titles) - 1
	if slices.ContainsFunc(rows, func(row []string) bool { return row[last] != "" }) {
		return titles, rows
	}
	for i := range rows {
		rows[i] = rows[i][:last]
	}
	return titles[:last], rows
}

// printJSON prints a value, indented.
func printJSON(a *app, value any) error {
	encoder := json.NewEncoder(output.JSONWriter{Out: a.stdout})
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
