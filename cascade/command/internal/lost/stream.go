package lost

import (
	"encoding/json"
	"fmt"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/inspect"
	"github.com/onerow/onerow/cascade/internal/output"
)

// stream prints missing rows as they are found: lines, or the elements of a JSON array.
type stream struct {
	a    *shell.App
	json bool
	some bool // one was printed
}

func (s *stream) add(o inspect.Orphan) error {
	if !s.json {
		return s.a.Say("%s", orphanLine(o))
	}
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	before := "[\n  "
	if s.some {
		before = ",\n  "
	}
	s.some = true
	_, err = fmt.Fprintf(output.JSONWriter{Out: s.a.Stdout}, "%s%s", before, text)
	return err
}

// end ends the array.
func (s *stream) end() error {
	switch {
	case !s.json:
		return nil
	case s.some:
		return s.a.Say("\n]")
	}
	return s.a.Say("[]")
}
