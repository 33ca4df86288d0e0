package schema

import "testing"

// TestColumnTypes: a plan file may come from elsewhere, so a type is one column's
// type and nothing behind it.
func TestColumnTypes(t *testing.T) {
	for text, want := range map[string]bool{
		"INT": true, "VARCHAR(80) NOT NULL DEFAULT ''": true, "DECIMAL(10, 2) NULL": true, "ENUM('a', 'b,c') NOT NULL": true,
		"INT DEFAULT -1": true, "": false, "INT, evil INT": false, "INT -- x": false, "INT; DROP TABLE x": false, "INT)": false,
		"ENUM('a)": false, "VARCHAR(80": false, "INT `x`": false, "1INT": false,
	} {
		if got := isType(text); got != want {
			t.Errorf("isType(%q) = %v", text, got)
		}
	}
}
