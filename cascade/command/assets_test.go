package command

import (
	"strings"
	"testing"
)

const albumPlan = `
resources:
  - name: album
  - name: photo
    parent: {resource: album, column: album_id}
    asset: blob_key
    columns: [{name: blob_key, type: VARCHAR(80) NOT NULL}]
`

// TestVerifyNotesAssets: verify does not look at assets, and says what a worker will ask for.
func TestVerifyNotesAssets(t *testing.T) {
	w := empty(t)
	w.write(w.plan, albumPlan)
	w.ok("migrate", "up")
	w.createTables()
	w.want(0, `"photo" names its assets in the column "blob_key": run needs --assets or ONEROW_ASSETS`, "verify")
	w.env = append(w.env, "ONEROW_ASSETS=file://"+t.TempDir())
	if o := w.want(0, "ok: ", "verify"); strings.Contains(o.stderr, "assets") {
		t.Error(o)
	}
}
