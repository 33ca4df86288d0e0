package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
)

// folder is one folder of the tree. Its name is its path below the root, with slashes; the root keeps the
// name of its folder.
type folder struct {
	name  string
	files []file
}

type file struct{ path, name string }

// scan lists folders and regular files; it follows no links.
func scan(dir string) (tree []folder, err error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	index := map[string]int{}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			if name == "." {
				name = filepath.Base(root)
			}
			index[path] = len(tree)
			tree = append(tree, folder{name: filepath.ToSlash(name)})
		case path == dir:
			return fmt.Errorf("%s is not a folder", dir)
		case entry.Type().IsRegular():
			f := &tree[index[filepath.Dir(path)]]
			f.files = append(f.files, file{path, entry.Name()})
		}
		return nil
	})
	return tree, err
}
