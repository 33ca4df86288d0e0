package featurefuzz

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

const (
	quiet   = "calm"
	others  = 1500            // other tables of the crowded database
	longest = 5 * time.Minute // a machine that does other things
)

// databases are where rounds are played; the second one has the other tables.
var databases = []string{"features", "crowded"}

// latin is a session that reads and writes names in a character set of its own.
const latin = "charset=latin1"

// sessions are the parameters of the pools.
var sessions = []string{
	"", "sql_mode=" + url.QueryEscape("'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,ANSI_QUOTES'") + "&time_zone=" + url.QueryEscape("'+05:30'"), latin,
	"sql_mode=" + url.QueryEscape("'NO_BACKSLASH_ESCAPES'") + "&time_zone=" + url.QueryEscape("'-11:00'"),
}

// run is the whole of it.
type run struct {
	*fuzz.Options
	found       *fuzz.Findings
	server      *devdb.Server
	quiet       *sql.DB
	admins      []*sql.DB // of the databases
	pools       [][]*sql.DB
	collations  []collation
	killer      *fuzz.Killer
	features    []feature
	tally       *tally
	rounds, bad int
	without     string
	only        int // the round that is played; 0: all
	crowd       chan error
	longest     map[string]time.Duration // that Verify has taken, by database
	crowded     bool
}

// Main is the command, with its exit code.
func Main(args []string) int {
	set := flag.NewFlagSet("features", flag.ExitOnError)
	u := &run{Options: fuzz.NewOptions(set, 2), killer: &fuzz.Killer{}, tally: newTally(), longest: map[string]time.Duration{}, crowd: make(chan error, 1)}
	set.IntVar(&u.only, "round", 0, "play only this round of the seed, and print its schema")
	set.StringVar(&u.without, "without", "", "features, with semicolons between, that no round has")
	return fuzz.Main(u.Options, args, func(ctx context.Context, found *fuzz.Findings) error {
		u.found = found
		return u.all(ctx)
	})
}

func (u *run) all(ctx context.Context) (err error) {
	if u.server, err = fuzz.Start(ctx, u.Engine); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	defer func() { err = errors.Join(err, u.server.Close()) }()
	u.Engine = strings.ToLower(u.server.Engine())
	if err := fuzz.Databases(ctx, u.server, append(databases, quiet)...); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	if u.quiet, err = fuzz.Admin(u.server, quiet); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	defer fuzz.Close(u.quiet)
	before := fuzz.Goroutines(u.quiet)
	if err = u.open(ctx); err == nil {
		err = u.play(ctx)
	}
	for i := range u.admins {
		for _, db := range append(u.pools[i], u.admins[i]) {
			fuzz.Close(db)
		}
	}
	fmt.Printf("soak: features: %s; Verify took %v at most\n", u, u.longest)
	u.tally.print(os.Stdout, u.features)
	if missing := u.tally.missing(u.features); err == nil && u.only == 0 && len(missing) > 0 {
		err = fmt.Errorf("soak: nothing is shown of: %s", strings.Join(missing, "; "))
	}
	if err == nil && u.bad*4 > u.rounds {
		err = fmt.Errorf("soak: of %d rounds the server did not take the schema of %d", u.rounds, u.bad)
	}
	for _, name := range databases {
		err = errors.Join(err, fuzz.Left(context.WithoutCancel(ctx), u.quiet, name, before, u.found))
	}
	return err
}

// open opens the pools, and reads what the server has.
func (u *run) open(ctx context.Context) error {
	for _, name := range databases {
		admin, err := pool.Open(fuzz.DSN(u.server, u.server.Config("").Addr, name, "sql_mode="+url.QueryEscape("'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'")+"&time_zone="+url.QueryEscape("'+00:00'")))
		if err == nil {
			err = migrations.Up(ctx, admin)
		}
		if err != nil {
			return err //nolint:wrapcheck // it says all
		}
		var pools []*sql.DB
		for i, params := range sessions {
			level := []string{"READ-COMMITTED", "REPEATABLE-READ"}[i%2]
			db, err := pool.Open(fuzz.DSN(u.server, u.server.Config("").Addr, name, strings.TrimPrefix(params+"&"+u.server.IsolationVariable()+"="+url.QueryEscape("'"+level+"'"), "&")))
			if err != nil {
				return err //nolint:wrapcheck // it says all
			}
			pools = append(pools, db)
		}
		u.admins, u.pools = append(u.admins, admin), append(u.pools, pools)
	}
	query := "SELECT character_set_name, collation_name FROM information_schema.collations"
	if u.Engine == "mariadb" {
		query = "SELECT character_set_name, full_collation_name FROM information_schema.collation_character_set_applicability"
	}
	err := onerow.Query(ctx, u.quiet, query+" ORDER BY 1, 2", nil, func(rows *sql.Rows) error {
		var c collation
		err := rows.Scan(&c.charset, &c.name)
		u.collations = append(u.collations, c)
		return err //nolint:wrapcheck // it says all
	})
	u.features = slices.DeleteFunc(slices.Clone(features), func(f feature) bool { return f.engine != "" && f.engine != u.Engine || u.leaves(f.name) })
	for _, k := range kinds {
		name := prefixOfValues + k.name
		if k.engine != "" && k.engine != u.Engine || slices.ContainsFunc(u.features, func(f feature) bool { return f.name == name }) {
			continue
		}
		u.features = append(u.features, feature{name: name})
	}
	return err //nolint:wrapcheck // it says all
}

// turn is the feature that the next round has for sure: each in turn, from a drawn one.
func (u *run) turn() string {
	n := uint64(len(u.features))
	return u.features[(u.Seed*7+uint64(u.rounds))%n].name //nolint:gosec // not below 0
}

// leaves says whether the flag leaves the feature out.
func (u *run) leaves(name string) bool { return slices.Contains(strings.Split(u.without, ";"), name) }

// makeCrowd makes the other tables, while rounds are played in the first database.
func (u *run) makeCrowd(ctx context.Context) {
	err := error(nil)
	for i := 0; i < others && err == nil; i++ {
		err = exec(ctx, u.admins[1], fmt.Sprintf("CREATE TABLE other_%d (id INT PRIMARY KEY, up INT, KEY up (up), FOREIGN KEY (up) REFERENCES other_%d (id)) ENGINE=InnoDB", i, max(0, i-1)))
	}
	u.crowd <- err
}

// play plays rounds, one of them at least among the other tables.
func (u *run) play(ctx context.Context) (err error) {
	calm := context.WithoutCancel(ctx)
	if u.only > 0 {
		u.crowded, u.rounds = true, u.only-1
		return u.round(calm, u.turn())
	}
	if u.leaves(ofCrowd) {
		u.crowd <- nil
	} else {
		go u.makeCrowd(calm)
	}
	said := time.Now()
	for end := time.Now().Add(u.Length); err == nil && ctx.Err() == nil && time.Now().Before(end); {
		select {
		case err = <-u.crowd:
			u.crowded = err == nil
		default:
		}
		if err == nil {
			err = u.round(calm, u.turn())
		}
		if time.Since(said) > 10*time.Second {
			fmt.Println("  ", u)
			said = time.Now()
		}
	}
	if !u.crowded {
		err = errors.Join(err, <-u.crowd)
		u.crowded = err == nil
	}
	for tries := 0; err == nil && !u.leaves(ofCrowd) && u.tally.worked[ofCrowd] == 0 && tries < 5; tries++ {
		err = u.round(calm, ofCrowd)
	}
	return err
}

// String is the progress.
func (u *run) String() string {
	return fmt.Sprintf("%d rounds, %d of them not made; %d sessions and %d queries killed", u.rounds, u.bad, u.killer.Kills.Load(), u.killer.Queries.Load())
}
