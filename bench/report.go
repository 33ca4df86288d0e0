package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"os"
	"runtime"
	"strings"
	"time"
)

// report is what came of one server.
type report struct {
	Engine, Version string
	Date            string
	Processors      int
	Rounds          int
	Period          time.Duration `json:"period_ns"`
	Network         time.Duration `json:"network_ns"`
	Works           []measured
}

type measured struct {
	Work    string    `json:"work"`
	Clients int       `json:"clients"`
	Ways    []figures `json:"ways"`
}

// onServer measures the works on one server, and prints each as soon as it is done.
func onServer(ctx context.Context, program string, p *peers, chosen []work, o options) (r report, err error) {
	most := 0
	for _, w := range chosen {
		most = max(most, w.clients)
	}
	s, err := openSite(ctx, program, p, most+2)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	r = report{Engine: s.server.Engine(), Version: s.server.Version(), Date: time.Now().Format(time.DateOnly), Processors: runtime.NumCPU(), Rounds: o.Rounds, Period: o.Period, Network: o.Network}
	fmt.Printf("\n## %s %s, durable, %d processors, round trips of %s and what the machine takes, medians of %d rounds of %s, %s\n", r.Engine, r.Version, r.Processors, r.Network, r.Rounds, r.Period, r.Date)
	for _, w := range chosen {
		list, err := compare(ctx, s, w, o)
		if err != nil {
			return r, fmt.Errorf("%s: %w", w.name, err)
		}
		m := measured{w.name, w.clients, list}
		r.Works = append(r.Works, m)
		fmt.Print(m)
	}
	return r, nil
}

// String is the work as a table.
func (m measured) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s, %d at once\n\n| | per second | ratio | p50 | p99 | longest | statements | packets | allocations | clients, µs | server, µs | deadlocks | starved | aim |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n", m.Work, m.Clients)
	for _, f := range m.Ways {
		aim := ""
		if f.Aim != "" {
			aim = fmt.Sprintf("%s: %.2f%s", f.Aim, f.Reached, map[bool]string{true: "", false: ", missed"}[f.Met])
		}
		if f.Note != "" {
			aim += "; " + f.Note
		}
		fmt.Fprintf(&b, "| %s | %.0f | %.2f | %s | %s | %s | %.2f | %.2f | %.0f | %.1f | %.1f | %d | %d | %s |\n", f.Way, f.PerSecond, f.Ratio, short(f.P50), short(f.P99), short(f.Max), f.Statements, f.Packets, f.Allocations, micros(f.Clients), micros(f.Server), f.Deadlocks, f.Starved, aim)
	}
	return b.String()
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

func short(d time.Duration) string {
	if d == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000)
}

func writeJSON(path string, all []report) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}

// darkSVG is how the chart looks where its reader wants dark pages.
const darkSVG = `<style>@media (prefers-color-scheme: dark) { .ground { fill: #12161f } text { fill: #e3e7ef } rect[fill="#1f6f43"] { fill: #4fb37d } }</style>` + "\n"

// writeSVG draws a bar for each way, as long as its ratio, for each server below the one before.
func writeSVG(path string, all []report) error {
	if path == "" {
		return nil
	}
	const left, width, line = 320, 480, 18
	var b strings.Builder
	y := 10
	text := func(x int, weight, anchor, s string) {
		fmt.Fprintf(&b, `<text x="%d" y="%d" font-weight="%s" text-anchor="%s">%s</text>`+"\n", x, y+13, weight, anchor, html.EscapeString(s))
	}
	for _, r := range all {
		text(10, "bold", "start", fmt.Sprintf("%s %s, %d processors, %s", r.Engine, r.Version, r.Processors, r.Date))
		y += line
		for _, m := range r.Works {
			y += line / 2
			text(10, "bold", "start", fmt.Sprintf("%s, %d at once", m.Work, m.Clients))
			y += line
			longest := 1.0
			for _, f := range m.Ways {
				longest = max(longest, f.Ratio)
			}
			for _, f := range m.Ways {
				text(left-8, "normal", "end", f.Way)
				color := "#8aa0b8"
				if strings.HasPrefix(f.Way, "onerow") {
					color = "#1f6f43"
				}
				long := int(f.Ratio / longest * width)
				fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" rx="2" fill="%s"/>`+"\n", left, y+2, max(long, 1), line-5, color)
				text(left+long+6, "normal", "start", fmt.Sprintf("%.2f  (%.0f per second)", f.Ratio, f.PerSecond))
				y += line
			}
		}
		y += line
	}
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="12">`+"\n", left+width+190, y+10) + darkSVG + `<rect class="ground" width="100%" height="100%" fill="#ffffff"/>` + "\n"
	return os.WriteFile(path, []byte(head+b.String()+"</svg>\n"), 0o600)
}
