package command

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

// TestSerialsGaps: the exit code is 0 while only voided numbers are found.
func TestSerialsGaps(t *testing.T) {
	w := empty(t)
	w.ok("migrate", "up")
	if o := w.want(0, "no series", "serials", "list"); o.stdout != "" {
		t.Error(o)
	}
	if o := w.want(1, "no such series", "serials", "gaps", "Euro 2024"); !isOneLine(o.stderr) {
		t.Error(o)
	}
	series, err := serial.New("Euro 2024")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 { // 1–2, 3–4, 5–6, 7–8, 9–10, 11–12
		if _, err := series.Claim(t.Context(), w.db, fmt.Sprint("transaction ", i), 2); err != nil {
			t.Fatal(err)
		}
	}
	w.want(0, "ok: no number is missing", "serials", "gaps", "Euro 2024")
	if out := w.ok("serials", "gaps", "Euro 2024", "--json"); strings.TrimSpace(out) != "[]" {
		t.Errorf("%q", out)
	}
	if _, err := series.Void(t.Context(), w.db, "transaction 1", "refunded"); err != nil {
		t.Fatal(err)
	}
	w.want(0, "ok: 0 numbers missing, 0 given twice, 2 voided", "serials", "gaps", "Euro 2024")
	w.exec("DELETE FROM onerow_serial_claim WHERE claim_key = 'transaction 3'")
	w.exec("UPDATE onerow_serial_claim SET from_no = 8 WHERE claim_key = 'transaction 4'")
	w.exec("UPDATE onerow_serial_claim SET from_no = 10 WHERE claim_key = 'transaction 5'")
	o := w.want(1, "not in order: 1 number missing, 1 given twice, 2 voided", "serials", "gaps", "Euro 2024")
	if o.stderr != "" {
		t.Errorf("the findings are the result: %s", o)
	}
	want := `KIND     FROM  TO  NUMBERS  CLAIM
voided      3   4        2  'transaction 1'
missing     7   7        1  'transaction 4'
overlap    10  10        1  'transaction 5'
`
	if !strings.HasPrefix(o.stdout, want) {
		t.Errorf("%s\nwant %s", o.stdout, want)
	}
	var found []gaps.Finding
	o = w.run("serials", "gaps", "Euro 2024", "--json")
	if err := json.Unmarshal([]byte(o.stdout), &found); err != nil || o.code != 1 || len(found) != 3 || found[1] != (gaps.Finding{Kind: gaps.Missing, From: 7, To: 7, Key: "transaction 4"}) {
		t.Errorf("%v: %s", err, o)
	}
	if out := w.ok("serials", "list"); out != "SERIES       FIRST  NEXT\n'Euro 2024'      1    13\n" {
		t.Errorf("%q", out)
	}
	var all []serial.Counter
	if err := json.Unmarshal([]byte(w.ok("serials", "list", "--json")), &all); err != nil || len(all) != 1 || all[0] != (serial.Counter{Series: "Euro 2024", First: 1, Next: 13}) {
		t.Errorf("%v %+v", err, all)
	}
}
