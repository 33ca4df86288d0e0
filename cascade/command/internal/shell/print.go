package shell

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/onerow/onerow/cascade/internal/output"
)

// Say prints a line to standard output: what a command has done or found.
func (a *App) Say(format string, args ...any) error {
	_, err := fmt.Fprintf(a.cleared(a.Stdout), format+"\n", args...)
	return err
}

// Note prints a line to standard error: what a person should know beside the result.
func (a *App) Note(format string, args ...any) error {
	_, err := fmt.Fprintf(a.cleared(a.Stderr), format+"\n", args...)
	return err
}

// Print prints text to standard output as it is.
func (a *App) Print(text string) error {
	_, err := fmt.Fprint(a.cleared(a.Stdout), text)
	return err
}

// cleared is w, when the counter's line is gone.
func (a *App) cleared(w io.Writer) io.Writer {
	if a.counter != nil {
		_ = a.counter.end() //nolint:errcheck // Close tells
	}
	return w
}

// Some is a count behind what else is said, as in "; 3 dead"; empty: there are none.
func Some[N int | int64](format string, n N) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, output.Grouped(n))
}

// PrintJSON prints a value, indented.
func PrintJSON(a *App, value any) error {
	encoder := json.NewEncoder(output.JSONWriter{Out: a.cleared(a.Stdout)})
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// PrintList prints values as a JSON array, or as a table with a row for each. Where there are none a person
// reads that on standard error. A last title that begins with '?' names a column that may be left out.
func PrintList[T any](a *App, asJSON bool, all []T, none string, titles []string, row func(T) []string) error {
	switch {
	case asJSON:
		return PrintJSON(a, append([]T{}, all...))
	case len(all) == 0:
		return a.Note("%s", none)
	}
	rows := make([][]string, len(all))
	for i, one := range all {
		rows[i] = row(one)
	}
	last := len(titles) - 1
	if name, optional := strings.CutPrefix(titles[last], "?"); optional {
		titles = append(titles[:last:last], name)
		if !slices.ContainsFunc(rows, func(row []string) bool { return row[last] != "" }) {
			titles = titles[:last]
			for i := range rows {
				rows[i] = rows[i][:last]
			}
		}
	}
	return output.Table(a.cleared(a.Stdout), titles, rows)
}

// ReadPages reads up to limit values, 0 meaning all, page by page; each page begins behind the last value.
func ReadPages[T any](limit Limit, read func(last T, limit int) ([]T, error)) ([]T, error) {
	const most = 1000
	all := []T{}
	for last := *new(T); ; last = all[len(all)-1] {
		size := most
		if limit > 0 {
			size = min(int(limit)-len(all), most)
		}
		page, err := read(last, size)
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); len(page) < size || len(all) == int(limit) {
			return all, nil
		}
	}
}
