package tables

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema/adopt"
)

// write makes the files in --out, all or none.
func (c *Adopt) write(a *shell.App, found *adopt.Adoption) error {
	list, err := os.ReadDir(c.Out)
	if err != nil {
		return usage.Errorf("--out: %w", err)
	}
	last, there := int64(0), map[string]string{} // by what stands behind the number
	for _, entry := range list {
		number, rest, ok := strings.Cut(entry.Name(), "_")
		n, err := strconv.ParseInt(number, 10, 64)
		if !ok || err != nil {
			continue
		}
		last, there[rest] = max(last, n), entry.Name()
	}
	first := c.Number
	if first == 0 {
		first = last + 1
	}
	files := adopt.Files(found, first)
	for _, f := range files {
		_, rest, _ := strings.Cut(f.Name, "_")
		if other := there[rest]; other != "" {
			return usage.Errorf("--out has %s already, which the database has not run: run it, or remove it, before more are written", other)
		}
	}
	var b strings.Builder
	for i, f := range files {
		if err := create(filepath.Join(c.Out, f.Name), f.Text); err != nil {
			for _, made := range files[:i] {
				err = errors.Join(err, os.Remove(filepath.Join(c.Out, made.Name)))
			}
			return err
		}
		mark := ""
		if found.Steps[i].Last && (i == 0 || !found.Steps[i-1].Last) {
			mark = fmt.Sprintf("  (before this one: %s adopt %s --backfill)", output.ProgramName, c.Resource)
		}
		fmt.Fprintf(&b, "%s%s\n", f.Name, mark)
	}
	for _, note := range found.Notes {
		fmt.Fprintf(&b, "note: %s\n", output.OneLine(note))
	}
	return a.Print(b.String())
}

// create writes a file that is not there yet.
func create(name, text string) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a migration is read by others
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.WriteString(text)
	return err
}
