package command

import (
	"encoding/json"
	"fmt"

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
