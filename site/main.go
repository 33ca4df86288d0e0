// Command site makes a web site of the project's own files: README, docs, results, and the documentation of
// each package. It fails if a link or an anchor leads nowhere.
//
//	make site                          into .cache/site
//	go run -C site . -out /tmp/site    elsewhere
//	go run -C site . -serve :8000      and shows it
//
// The pages need no server but one for files, and no other site: search runs in the reader's browser, over an
// index that is made here.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("site", flag.ContinueOnError)
	out := flags.String("out", filepath.Join("..", ".cache", "site"), "the folder that the pages are written to")
	root := flags.String("root", "..", "the checkout")
	serve := flags.String("serve", "", "an address to show the pages at, as in :8000")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	begin := time.Now()
	s, err := load(os.DirFS(*root))
	if err != nil {
		return err
	}
	files, err := s.render()
	if err != nil {
		return err
	}
	if err := write(*out, files); err != nil {
		return err
	}
	fmt.Printf("%d pages in %s, %.1f s\n", len(s.pages), *out, time.Since(begin).Seconds())
	if *serve == "" {
		return nil
	}
	fmt.Println("showing them at", *serve)
	server := &http.Server{Addr: *serve, Handler: http.FileServer(http.Dir(*out)), ReadHeaderTimeout: 5 * time.Second}
	return server.ListenAndServe()
}

// marker is a file by which a folder is known for a site of this program.
const marker = ".onerow-site"

// write replaces the folder by the files. Only a folder that an earlier run made is replaced.
func write(dir string, files map[string][]byte) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ours := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == marker })
	if len(entries) > 0 && !ours {
		return fmt.Errorf("%s has files that are no site's; name another folder with -out", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	files[marker] = nil
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // pages are for everybody
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil { //nolint:gosec // the same
			return err
		}
	}
	return nil
}
