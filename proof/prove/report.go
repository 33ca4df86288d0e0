package main

import (
	"encoding/json"
	"io"
	"strings"
)

// report is a run's, for people and machines.
type report struct {
	Server   about    `json:"server"`
	Took     string   `json:"took"`
	Exit     int      `json:"exit"`
	Database string   `json:"kept,omitempty"`
	Results  []result `json:"results"`
	Facts    []fact   `json:"facts"`
}

// print returns the exit code.
func (r report) print(out io.Writer, machine bool) (code int, err error) {
	n := map[verdict]int{}
	for _, x := range r.Results {
		n[x.Verdict]++
	}
	switch {
	case n[falls] > 0:
		r.Exit = exitFalls
	case n[untried] > 0 || n[holds] == 0:
		r.Exit = exitNoRun
	}
	if machine {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return r.Exit, enc.Encode(r)
	}
	say(out, "\n%s, plain sessions at %s, in %s\n\n", r.Server.Version, r.Server.Isolation, r.Took)
	for _, v := range []verdict{falls, untried, left, holds} {
		for _, x := range r.Results {
			if x.Verdict == v {
				x.print(out)
			}
		}
	}
	for i, f := range r.Facts {
		if i == 0 {
			say(out, "\nFacts, which are no promises of onerow:\n")
		}
		say(out, "  %s: %s.\n", f.Name, f.Is)
		wrapped(out, "    ", f.So+".")
	}
	say(out, "\n%d hold, %d do not hold, %d were not tried, %d were not asked for.\n", n[holds], n[falls], n[untried], n[left])
	return r.Exit, nil
}

// print is a line of the table, and what to do below it.
func (x result) print(out io.Writer) {
	say(out, "%-13s  %-18s  %-9s  %s\n", strings.ToUpper(string(x.Verdict)), x.Name, x.With, strings.ReplaceAll(x.Promise, "`", ""))
	if x.Seen != "" && x.Verdict != holds {
		wrapped(out, "               ", x.Seen)
	}
	if x.Fix != "" {
		wrapped(out, "               → ", x.Fix)
	}
}

// wrapped prints a text in lines that a terminal has room for.
func wrapped(out io.Writer, indent, text string) {
	line, rest := indent, strings.Repeat(" ", len([]rune(indent)))
	for i, word := range strings.Fields(text) {
		if len(line)+len(word) > 100 && i > 0 {
			say(out, "%s\n", strings.TrimRight(line, " "))
			line = rest
		}
		line += word + " "
	}
	say(out, "%s\n", strings.TrimRight(line, " "))
}
