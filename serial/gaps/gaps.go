package gaps

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/serial"
)

// Kind of a [Finding].
type Kind string

// The kinds of findings. Only Voided is in order.
const (
	// Missing: nobody has these numbers.
	Missing Kind = "missing"
	// Overlap: these numbers were given before, to an earlier range.
	Overlap Kind = "overlap"
	// Voided: these numbers were claimed and are declared unused.
	Voided Kind = "voided"
)

// Finding is a stretch of numbers that are not exactly one claim's.
type Finding struct {
	Kind Kind `json:"kind"`
	// From and To are the first and the last of the numbers.
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Key is the claim behind the missing numbers, the later one of an overlap, the voided one. Empty at the
	// end of the series: numbers before the counter that nobody has, or behind it that somebody has already.
	Key string `json:"key,omitempty"`
}

// sqlGaps reports on a series, whose name is its one parameter, three times.
//
// LAG looks at how far the ranges before a range reached, not at the one before alone: 1–10, 2–3, 11–12 has
// an overlap and no gap. The series' first number and its counter are ranges of no numbers at either end, so
// numbers that are missing there show too. It reads the series once, through the key (series, from_no), and
// locks nothing; one statement, so claims that commit meanwhile do not show as gaps.
const sqlGaps = findings + `
      SELECT claim_key, from_no, to_no, voided_at IS NOT NULL AS voided, 1 AS place
      FROM onerow_serial_claim WHERE series = ? AND from_no IS NOT NULL
      UNION ALL SELECT NULL, first_no, first_no - 1, 0, 0 FROM onerow_serial WHERE series = ?
      UNION ALL SELECT NULL, next_no, next_no - 1, 0, 2 FROM onerow_serial WHERE series = ?` + ofRanges

const (
	findings = `SELECT claim_key,
  CASE WHEN from_no > before_it + 1 THEN before_it + 1 END AS missing_from,
  CASE WHEN from_no > before_it + 1 THEN from_no - 1 END AS missing_to,
  CASE WHEN from_no <= before_it THEN from_no END AS overlap_from,
  CASE WHEN from_no <= before_it THEN CASE WHEN place = 2 THEN before_it ELSE LEAST(to_no, before_it) END END AS overlap_to,
  CASE WHEN voided THEN from_no END AS voided_from,
  CASE WHEN voided THEN to_no END AS voided_to
FROM (
  SELECT claim_key, from_no, to_no, voided, place, LAG(reach) OVER (ORDER BY place, from_no, to_no) AS before_it
  FROM (
    SELECT claim_key, from_no, to_no, voided, place,
      MAX(to_no) OVER (ORDER BY place, from_no, to_no ROWS UNBOUNDED PRECEDING) AS reach
    FROM (`
	ofRanges = `
    ) AS ranges
  ) AS reached
) AS seen
WHERE from_no <> before_it + 1 OR voided
ORDER BY place, from_no, to_no`
)

// Find reports on a series: what is missing, what overlaps and what was voided, in the order of the numbers.
// As long as all claims go through package serial only voided ranges are in it. A series without a claim has
// no findings. One statement.
func Find(ctx context.Context, db onerow.DB, s *serial.Series) ([]Finding, error) {
	found, err := report(ctx, db, sqlGaps, s.Name(), s.Name(), s.Name())
	if err != nil {
		return nil, fmt.Errorf("gaps of series %q: %w", s.Name(), err)
	}
	return found, nil
}

// report turns a row of the query into findings: a range can be voided and have a gap before it.
func report(ctx context.Context, db onerow.DB, query string, args ...any) ([]Finding, error) {
	var found []Finding
	err := onerow.Query(ctx, db, query, args, func(rows *sql.Rows) error {
		var key sql.NullString
		var ends [6]sql.NullInt64
		err := rows.Scan(&key, &ends[0], &ends[1], &ends[2], &ends[3], &ends[4], &ends[5])
		for i, kind := range []Kind{Missing, Overlap, Voided} {
			if from, to := ends[2*i], ends[2*i+1]; from.Valid && to.Valid {
				found = append(found, Finding{Kind: kind, From: from.Int64, To: to.Int64, Key: key.String})
			}
		}
		return err
	})
	return found, err
}

// Complete says whether the findings are all voided ranges: no number is missing and none was given twice.
func Complete(found []Finding) bool {
	return !slices.ContainsFunc(found, func(f Finding) bool { return f.Kind != Voided })
}
