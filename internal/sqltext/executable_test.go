package sqltext

import (
	"strings"
	"testing"
)

// TestExecutable: what an executable comment holds is understood where it leaves the statement what it is, and
// such a text does not travel.
func TestExecutable(t *testing.T) {
	for text, want := range map[string]Kind{
		"SELECT a FROM t IGNORE INDEX (PRIMARY) /*M! FORCE INDEX (`x`) */ WHERE id = ?":                Read,
		"/*M! SET STATEMENT time_zone = '+00:00' FOR */ SELECT a FROM t":                               Read,
		"/*M! SET STATEMENT sql_mode = 'A,B', time_zone = '+00:00' FOR */ INSERT INTO t VALUES (?)":    Write,
		"/*M! SET STATEMENT autocommit = 0 FOR */ SELECT 1":                                            Unclear,
		"/*M! SET STATEMENT time_zone = '+00:00' FOR UPDATE t SET a = 1; */ SELECT 1":                  Unclear,
		"/*M! FORCE INDEX (x) INTO OUTFILE 'f' */ SELECT 1":                                            Unclear,
		"INSERT /*+ SET_VAR(sql_mode = 'A,B') SET_VAR(time_zone = '+00:00') */ INTO t SELECT a FROM u": Write,
		"INSERT /*+ SET_VAR(sql_mode = 'A,*/ INTO t SELECT a FROM u":                                   Unclear,
		"SELECT /*+ INDEX(`t` `x`) */ a FROM `t` IGNORE INDEX (PRIMARY)":                               Read,
		"SELECT 1 /*!50000 FORCE INDEX (x) */":                                                         Unclear,
		"SELECT 1 /*M! SET STATEMENT a = 1 FOR */":                                                     Unclear,
		"SELECT 1 /*M! FORCE INDEX (x) ":                                                               Unclear,
		"/*M! SAVEPOINT x */ /*!50701 SELECT 1 */":                                                     Unclear,
	} {
		got := Classify(text, OtherCharset)
		if got.Kind != want || got.Travels && strings.Contains(text, "!") {
			t.Errorf("%s: %s, travels %v; want %s", text, got.Kind, got.Travels, want)
		}
	}
}
