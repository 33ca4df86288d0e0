package load

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// folder is one folder of the tree. Its name is its path below the root, with
// slashes; the root is called as its folder is.
type folder struct {
	name  string
	files []file
}

type file struct {
	path, name string
	size       int64
}

// scan lists folders and regular files. Links are not followed and not loaded, nor
// is what a folder hides from us.
func scan(dir string) ([]folder, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("load: %s is not a folder", dir)
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	root := filepath.Base(absolute)
	var tree []folder
	index := map[string]int{}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			if name == "." {
				name = root
			}
			index[path] = len(tree)
			tree = append(tree, folder{name: filepath.ToSlash(name)})
		case entry.Type().IsRegular():
			info, err := entry.Info()
			if err != nil {
				return err
			}
			f := &tree[index[filepath.Dir(path)]]
			f.files = append(f.files, file{path: path, name: entry.Name(), size: info.Size()})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return tree, nil
}
