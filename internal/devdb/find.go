package devdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNoServer says that there is no server program on this machine. The wrapping error tells what to install.
var ErrNoServer = errors.New("no MariaDB or MySQL server was found")

// ErrOtherEngine says that a kept folder was made by the other engine.
var ErrOtherEngine = errors.New("the data directory belongs to the other engine")

// ErrInUse says that another process uses the folder and did not let go of it in time.
var ErrInUse = errors.New("the data directory is in use")

// binary is a server program that was found and asked for its version.
type binary struct {
	path    string
	how     string // where it was found, for people
	version string // its own answer to --version
}

func (b binary) engine() string { return engineOf(b.version) }

// names in the order of search, and the folders that are searched after PATH: an ordinary user's PATH lacks
// sbin.
var (
	serverNames   = []string{"mariadbd", "mysqld"}
	serverFolders = []string{"/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/local/libexec", "/usr/local/bin",
		"/usr/local/mysql/bin", "/opt/homebrew/bin"}
)

func find(ctx context.Context) (binary, error) {
	if want := os.Getenv(EnvMysqld); want != "" {
		path, err := exec.LookPath(want)
		if err != nil {
			return binary{}, fmt.Errorf("devdb: %s names no program that can be run: %w", EnvMysqld, err)
		}
		return ask(ctx, path, EnvMysqld)
	}
	for _, name := range serverNames {
		if path, err := exec.LookPath(name); err == nil {
			return ask(ctx, path, "on PATH")
		}
		for _, folder := range serverFolders {
			if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
				return ask(ctx, path, "in "+folder)
			}
		}
	}
	return binary{}, fmt.Errorf("devdb: %w: install one with\n\n    %s\n\n(scripts/get-mariadb does that), or set %s to a mariadbd or mysqld, "+
		"or set %s to a running server", ErrNoServer, installCommand(), EnvMysqld, EnvDSN)
}

func ask(ctx context.Context, path, how string) (binary, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return binary{}, fmt.Errorf("devdb: %w", err)
	}
	// A name that was found or that the developer gave: running it is the purpose of this package.
	out, err := exec.CommandContext(ctx, path, "--no-defaults", "--version").CombinedOutput() //nolint:gosec // see above
	if err != nil {
		return binary{}, fmt.Errorf("devdb: %s --version failed, so it is no server program that works: %w: %s", path, err, tail(string(out), 5))
	}
	return binary{path: path, how: how, version: strings.TrimSpace(string(out))}, nil
}

func installCommand() string {
	sudo := ""
	if os.Geteuid() != 0 {
		sudo = "sudo "
	}
	return fmt.Sprintf("%[1]sapt-get update && %[1]sapt-get install -y --no-install-recommends mariadb-server-core mariadb-client-core", sudo)
}

// installDB finds the script that makes a MariaDB data directory: beside the server, near it where archives
// have it, or on PATH. One that is not the server's own could be of another version, so the nearest wins.
func (b binary) installDB() (path string, args []string, err error) {
	real, err := filepath.EvalSymlinks(b.path)
	if err != nil {
		return "", nil, fmt.Errorf("devdb: %w", err)
	}
	beside := filepath.Dir(real)
	base := filepath.Dir(beside)
	for _, name := range []string{"mariadb-install-db", "mysql_install_db"} {
		for _, folder := range []string{beside, filepath.Join(base, "bin"), filepath.Join(base, "scripts")} {
			if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
				return path, []string{"--basedir=" + base}, nil
			}
		}
		if path, err := exec.LookPath(name); err == nil {
			return path, nil, nil
		}
	}
	return "", nil, fmt.Errorf("devdb: %s is there, but mariadb-install-db is not: %w", b.path, exec.ErrNotFound)
}

// tail returns the last n lines of a log, for an error message.
func tail(log string, n int) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}
