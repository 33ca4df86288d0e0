package command

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/usage"
)

func TestParseDSN(t *testing.T) {
	const secret = "s3cr/t@?#%:(x)"
	for _, c := range []struct{ dsn, user, password, network, addr, database string }{
		{"app:pw@tcp(db.example:3307)/shop", "app", "pw", "tcp", "db.example:3307", "shop"},
		{"app:pw@tcp(db.example)/shop?charset=utf8mb4", "app", "pw", "tcp", "db.example:3306", "shop"},
		{"app:" + secret + "@tcp(db.example:3307)/shop", "app", secret, "tcp", "db.example:3307", "shop"},
		{"app://pw@tcp(db.example:3307)/shop", "app", "//pw", "tcp", "db.example:3307", "shop"},
		{"app:pw@tcp([::1]:3307)/shop", "app", "pw", "tcp", "[::1]:3307", "shop"},
		{"app:pw@unix(/run/mysqld/mysqld.sock)/shop", "app", "pw", "unix", "/run/mysqld/mysqld.sock", "shop"},
		{"app:pw@/shop", "app", "pw", "tcp", "127.0.0.1:3306", "shop"},
		{"/shop", "", "", "tcp", "127.0.0.1:3306", "shop"},
	} {
		cfg, err := shell.ParseDSN(c.dsn)
		if err != nil {
			t.Errorf("%s: %v", c.dsn, err)
			continue
		}
		got := fmt.Sprintf("%s %s %s %s %s", cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.DBName)
		if want := fmt.Sprintf("%s %s %s %s %s", c.user, c.password, c.network, c.addr, c.database); got != want {
			t.Errorf("%s: %s, want %s", c.dsn, got, want)
		}
		if !cfg.InterpolateParams || cfg.Collation == "" || cfg.Timeout == 0 {
			t.Errorf("%s: the recommended settings are missing", c.dsn)
		}
	}
}

// hostileDSNs are DSNs in which the password is a part that no parser takes for one.
// SECRET stands for it, or for the rest of it.
var hostileDSNs = []string{
	"mysql://root:SECRET@127.0.0.1/db", "MariaDB://root:SECRET@db.example:3306/db?parseTime=true", "mysql:///SECRET",
	"mysql://root:12/SECRET@127.0.0.1/db", "mysql://root:SECRET/x@127.0.0.1/db", "mysql://root:SECRET?x@127.0.0.1/db",
	"mysql://root:1#SECRET@127.0.0.1/db", "mysql://root:SECRET#x@127.0.0.1/db", "mysql://root:1?SECRET@127.0.0.1/db",
	"mysql://root:SECRET%zz@127.0.0.1/db", "mysql://root:%SECRET@127.0.0.1/db", "mysql://root:SECRET @127.0.0.1/db",
	"mysql://root:SECRET@127.0.0.1:port/db", "mysql://root:SECRET@[::1/db", "mysql://root:SECRET\x7f@127.0.0.1/db",
	"mysql://root:SECRET@127.0.0.1/db/more", "mysql://root:SECRET@127.0.0.1/", "mysql://root:SECRET@127.0.0.1",
	"mysql://root:x@127.0.0.1/db?password=SECRET", "mysql://root:x@127.0.0.1/db?parseTime=SECRET", "mysql://root:x@127.0.0.1/db?timeout=SECRET",
	"mysql://root:SECRET@127.0.0.1/db?strict=true", "mysql://root:x@127.0.0.1/db?tls=SECRET", "mysql://root:x@127.0.0.1/db?collation=SECRET;",
	"mysql:root:SECRET@127.0.0.1/db", "mysql:/root:SECRET@127.0.0.1/db", "jdbc:mysql://root:SECRET@127.0.0.1/db",
	"postgres://root:SECRET@127.0.0.1/db", "root:SECRET://x@127.0.0.1/db", "SECRET://root@127.0.0.1/db",
	"root:SECRET@127.0.0.1:3306/db", "root:SECRET@localhost/db", "root:SECRET", "root:SECRET@tcp(127.0.0.1:3306)",
	"root:SECRET@tcp(127.0.0.1:3306)db", "root:SECRET@tcp(127.0.0.1:3306/db", "root:SECRET@tcp127.0.0.1:3306)/db",
	"root:x/SECRET@host/db", "root:SECRET/x", "root:(SECRET)/db", "root:x(SECRET)/db", "root:x@SECRET/db", "root:x@SECRET(127.0.0.1)/db",
	"tcp(root:SECRET@127.0.0.1:3306)/db", "root:SECRET@tcp(127.0.0.1:3306)/db?loc=No/Where", "root:SECRET@/db?loc=Asia/Tokyo",
	"root:x@tcp(127.0.0.1:3306)/db?passwd=SECRET", "root:x@tcp(127.0.0.1:3306)/db?strict=SECRET", "root:x@tcp(127.0.0.1:3306)/db?a b=SECRET",
	"root:x@tcp(127.0.0.1:3306)/db?readTimeout=SECRET", "root:x@tcp(127.0.0.1:3306)/db?loc=SECRET", "root:x@tcp(127.0.0.1:3306)/db?x=%zzSECRET",
	"root:x@tcp(127.0.0.1:3306)/%SECRET", "root:x@tcp(127.0.0.1:3306)/db?maxAllowedPacket=xSECRET", "root:x@tcp(127.0.0.1:3306)/db?serverPubKey=SECRET",
	"root:x@tcp(127.0.0.1:3306)/db?;SECRET=1", "root:SECRET\n@tcp(127.0.0.1)", "\x00root:SECRET@", "root:SECRET@@@@@/", "@SECRET:(/)/",
}

// TestHostileDSN: a DSN that cannot be parsed, or is parsed into something else than was
// meant, is refused without a word of it.
func TestHostileDSN(t *testing.T) {
	for _, form := range hostileDSNs {
		for _, secret := range []string{"hunter2", "7", "Pa$$w0rd"} {
			dsn := strings.ReplaceAll(form, "SECRET", secret)
			cfg, err := shell.ParseDSN(dsn)
			if err == nil {
				if form != "root:SECRET@@@@@/" || cfg.DBName != "" {
					t.Errorf("%q is accepted: %s %s/%s", dsn, cfg.Net, cfg.Addr, cfg.DBName)
				}
				continue
			}
			if !errors.Is(err, usage.Err) {
				t.Errorf("%q: not a mistake of the user's: %v", dsn, err)
			}
			if text := strings.NewReplacer("%2F", "", "3306", "").Replace(err.Error()); strings.Contains(text, secret) {
				t.Errorf("%q: the error contains %q: %v", dsn, secret, err)
			}
		}
	}
}

// FuzzParseDSN: whatever is around a secret, no error of the parser contains it, and it
// never panics.
func FuzzParseDSN(f *testing.F) {
	for _, form := range hostileDSNs {
		before, after, _ := strings.Cut(form, "SECRET")
		f.Add(before, after)
	}
	f.Add("root:", "@tcp(127.0.0.1:3306)/db")
	f.Add("mysql://root:", "@127.0.0.1:3306/db")
	f.Add("root:", "@tcp(127.0.0.1:3306)/db?tx_isolation='READ-COMMITTED'")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "hunter2secret"
		dsn := before + secret + after
		cfg, err := shell.ParseDSN(dsn)
		if err != nil {
			if strings.Contains(strings.ToLower(err.Error()), secret) {
				t.Fatalf("%q: the error contains the secret: %v", dsn, err)
			}
			return
		}
		if cfg.DBName == "" || cfg.Logger == nil || strings.ContainsAny(shell.Address(cfg), "\n\x1b") {
			t.Fatalf("%q: %q %q", dsn, cfg.DBName, shell.Address(cfg))
		}
	})
}

// TestHide: a DSN that was typed in the wrong place is not repeated.
func TestHide(t *testing.T) {
	for _, arg := range []string{
		"mysql://root:hunter2@h/db", "root:hunter2@tcp(h)/db", "--dns=mysql://root:hunter2@h/db", "--plan=root:hunter2@tcp(h)/db",
		"s3://bucket?secret=hunter2", "mysql://root:hunter2\"@h/db",
	} {
		s := shell.Environment{Args: []string{"run", arg}, Getenv: func(string) string { return "" }}
		for _, text := range []string{"unexpected argument " + arg, fmt.Sprintf("open %q: no such file", arg), strings.TrimPrefix(arg, "--plan=")} {
			if got := s.Hide(text); strings.Contains(got, "hunter2") {
				t.Errorf("%q became %q", text, got)
			}
		}
	}
	s := shell.Environment{Args: []string{"enqueue", "project", "12:30", "plan.yaml"}, Getenv: func(string) string { return "" }}
	if got := s.Hide("project 12:30 plan.yaml"); got != "project 12:30 plan.yaml" {
		t.Errorf("too much is hidden: %q", got)
	}
}
