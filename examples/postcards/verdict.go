package main

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/onerow/onerow/examples/internal/demo"
	"github.com/onerow/onerow/serial"
)

// printed is how many findings are shown of a report.
const printed = 8

func printFindings(page *demo.Page, found []serial.Finding) {
	rows := make([][]string, 0, printed)
	for _, f := range found[:min(len(found), printed)] {
		rows = append(rows, []string{string(f.Kind), strconv.FormatInt(f.From, 10), strconv.FormatInt(f.To, 10), demo.Number(f.To - f.From + 1), f.Key})
	}
	page.Table([]string{"KIND", ">FROM", ">TO", ">NUMBERS", "CLAIM"}, rows)
	if more := len(found) - printed; more > 0 {
		page.Line("  … and %d more", more)
	}
}

// same says whether two reports name the same numbers. The key of a finding at the end of a
// series is empty in one of them.
func same(a, b []serial.Finding) bool {
	return slices.EqualFunc(a, b, func(a, b serial.Finding) bool { return a.Kind == b.Kind && a.From == b.From && a.To == b.To })
}

// count is how many numbers of a kind are in a report.
func count(found []serial.Finding, kind serial.Kind) (n int64) {
	for _, f := range found {
		if f.Kind == kind {
			n += f.To - f.From + 1
		}
	}
	return n
}

// verdict prints the closing table. It is an error when the claims have a gap, or sold what was
// not bought, and when the plain counter shows no gap.
func verdict(ctx context.Context, d *demo.Database, page *demo.Page, with, without shop, claimed, lost []serial.Finding) error {
	soldWith, numbersWith, err := sold(ctx, d.DB, with)
	if err != nil {
		return err
	}
	soldWithout, numbersWithout, err := sold(ctx, d.DB, without)
	if err != nil {
		return err
	}
	rows := [][]string{
		{"transactions", demo.Number(soldWith), demo.Number(soldWithout)},
		{"their numbers", demo.Number(numbersWith), demo.Number(numbersWithout)},
	}
	for _, kind := range []serial.Kind{serial.Voided, serial.Missing, serial.Overlap} {
		rows = append(rows, []string{"numbers " + string(kind), demo.Number(count(claimed, kind)), demo.Number(count(lost, kind))})
	}
	rows = append(rows, []string{"without gaps", demo.Yes(serial.Complete(claimed)), demo.Yes(serial.Complete(lost))})
	page.Table([]string{"", ">CLAIMS", ">PLAIN COUNTER"}, rows)
	_, crowdNumbers := crowded()
	switch {
	case !serial.Complete(claimed):
		return errors.New("the claims have a gap or an overlap")
	case soldWith != 4+crowd || numbersWith != 3+2+1+2+crowdNumbers || count(claimed, serial.Voided) != 1:
		return errors.New("the claims are not those of the events")
	case serial.Complete(lost):
		return errors.New("the plain counter has no gap; it should")
	}
	return nil
}
