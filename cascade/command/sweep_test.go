package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/inspect"
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

// TestSweep: what is lost is listed first and deleted only when asked for.
func TestSweep(t *testing.T) {
	w := empty(t)
	w.write(w.plan, albumPlan)
	w.createTables()
	folder := t.TempDir()
	assets := "--assets=file://" + folder
	put := func(name string, age time.Duration) {
		w.write(filepath.Join(folder, name), "bytes")
		at := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(folder, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	w.want(0, "0 objects, 0 too young; 0 without a row; 0 rows, 0 without an object", "sweep", assets)
	if out := w.ok("sweep", assets, "--json"); out != "[]\n" {
		t.Errorf("%q", out)
	}
	put("kept", 48*time.Hour)
	put("lost-1", 48*time.Hour)
	put("lost-2", 48*time.Hour)
	put("new", 0)
	w.exec("INSERT INTO photo (album_id, blob_key, created_at, updated_at) VALUES (1, 'kept', '2020-01-01', '2020-01-01'), (1, 'bare', '2020-01-01', '2020-01-01'), (1, 'soon', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
	o := w.want(0, "4 objects, 1 too young; 2 without a row; 2 rows, 1 without an object; an index on the asset's column would help in photo", "sweep", assets)
	if !strings.Contains(o.stdout, "no row names lost-1, written 20") || !strings.Contains(o.stdout, "photo 2: no object bare\n") || strings.Count(o.stdout, "\n") != 3 {
		t.Error(o)
	}
	var found []inspect.Finding
	if err := json.Unmarshal([]byte(w.ok("sweep", assets, "--json", "--prefix", "lost")), &found); err != nil || len(found) != 2 || found[0].Name != "lost-1" || found[0].Deleted {
		t.Errorf("%+v, %v", found, err)
	}
	w.want(0, "there may be more", "sweep", assets, "--limit", "1")
	w.want(0, "1 of them deleted", "sweep", assets, "--delete", "--prefix", "lost-2")
	w.want(0, "2 without a row, 2 of them deleted", "sweep", assets, "--delete", "--grace", "0s")
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 1 || left[0].Name() != "kept" {
		t.Errorf("%v, %v", left, err)
	}
	for _, c := range []struct{ args, says string }{
		{"sweep", "--assets"},
		{"sweep --assets s3://bucket", "file:///"},
		{"sweep --grace=-1h " + assets, "--grace"},
		{"sweep --grace 1 " + assets, "unit"},
		{"sweep --limit=-1 " + assets, "--limit"},
	} {
		if o := w.want(2, c.says, strings.Fields(c.args)...); !isOneLine(o.stderr) || o.stdout != "" {
			t.Error(o)
		}
	}
	w.want(0, "1 object, 0 too young", "sweep", assets, "--limit", "0") // none, as by default
	w.exec("ALTER TABLE photo DROP COLUMN blob_key")
	if o := w.want(1, "blob_key", "sweep", assets); strings.Contains(o.stderr, "asset column") {
		t.Errorf("a plan that does not fit its tables: %s", o)
	}
	other := designed(t)
	other.write(other.plan, "tables: [{name: region, key: [code]}]")
	other.env = append(other.env, unreachable)
	other.want(2, "no resource or table of the plan has an asset column", "sweep", assets)
}
