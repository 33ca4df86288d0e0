package deploy

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// root is the folder of the project.
const root = "../.."

// tree has the texts of deploy/ by their paths below the root, so that a mistake can be planted in a copy.
type tree map[string]string

func readTree(t *testing.T) tree {
	t.Helper()
	files := tree{}
	err := filepath.WalkDir(filepath.Join(root, "deploy"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, path)
		files[filepath.ToSlash(below)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// under lists the files of a folder whose names end so.
func (f tree) under(folder, ending string) (paths []string) {
	for path := range f {
		if strings.HasPrefix(path, folder+"/") && strings.HasSuffix(path, ending) {
			paths = append(paths, path)
		}
	}
	return paths
}

// exists says whether the path is there, in the tree or, outside of deploy/, on the disk.
func (f tree) exists(path string) bool {
	if _, has := f[path]; has || len(f.under(path, "")) > 0 {
		return true
	}
	_, err := os.Stat(filepath.Join(root, path))
	return err == nil && !strings.HasPrefix(path, "deploy/")
}

// planted is a mistake: in path, text becomes wrong, and a check must say what is in says.
type planted struct{ path, text, wrong, says string }

// wantFound plants each mistake in a copy of the files and wants the check to find it, and nothing without
// it.
func wantFound(t *testing.T, files tree, check func(tree) []string, mistakes ...planted) {
	t.Helper()
	for _, complaint := range check(files) {
		t.Error(complaint)
	}
	for _, m := range mistakes {
		if !strings.Contains(files[m.path], m.text) {
			t.Errorf("%s has no %q to plant a mistake in", m.path, m.text)
			continue
		}
		copied := maps.Clone(files)
		copied[m.path] = strings.Replace(files[m.path], m.text, m.wrong, 1)
		found := strings.Join(check(copied), "\n")
		if !strings.Contains(found, m.says) {
			t.Errorf("%s with %q for %q: found %q, want %q", m.path, m.wrong, m.text, found, m.says)
		}
	}
}
