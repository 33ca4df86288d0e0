package work

import (
	"strings"
	"testing"
)

// TestOtherDeletionSaysWhatItDid: "nothing" only where it is true.
func TestOtherDeletionSaysWhatItDid(t *testing.T) {
	for changes, says := range map[int64]string{0: "nothing was deleted by this attempt of job 3", 17: "before that, this attempt of job 3 had deleted or changed 17 rows below it"} {
		e := eraser{changes: changes}
		r := root{Target: Target{JobID: 3, Resource: "project", ResourceID: "1"}}
		if err := e.refuse(&r, "is another"); !strings.HasSuffix(err.Error(), "is another; "+says) {
			t.Error(err)
		}
	}
}
