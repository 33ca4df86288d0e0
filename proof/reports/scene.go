package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// scene is the database of one report.
type scene struct {
	server   *devdb.Server
	database string
	db       *sql.DB // of pool.Open
	plain    *sql.DB // nothing of the library guards it
	pools    []*sql.DB
	note     string // what was shown on the way, as by hand
}

func open(ctx context.Context, server *devdb.Server, database string) (*scene, error) {
	if err := fuzz.Databases(ctx, server, database); err != nil {
		return nil, err
	}
	s := &scene{server: server, database: database}
	plain, err := fuzz.Admin(server, database)
	if err != nil {
		return nil, err
	}
	s.plain, s.pools = plain, []*sql.DB{plain}
	if s.db, err = s.pool(""); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// pool opens one more, with parameters of the data source name.
func (s *scene) pool(params string) (*sql.DB, error) {
	return s.poolAt(s.server.Config("").Addr, params)
}

// poolAt is pool at another address, as that of a proxy.
func (s *scene) poolAt(addr, params string) (*sql.DB, error) {
	db, err := pool.Open(fuzz.DSN(s.server, addr, s.database, params))
	if err == nil {
		s.pools = append(s.pools, db)
	}
	return db, err
}

func (s *scene) close() (err error) {
	for _, db := range s.pools {
		err = errors.Join(err, db.Close())
	}
	return err
}

// plant makes the library's tables, and those of the plan with what it keeps.
func (s *scene) plant(ctx context.Context, plan schema.Plan, statements ...string) error {
	if err := migrations.Up(ctx, s.db); err != nil {
		return err
	}
	if err := s.exec(ctx, append(plan.DDL(), statements...)...); err != nil {
		return err
	}
	tables, err := catalog.Read(ctx, s.db)
	if err != nil {
		return err
	}
	kept, err := tables.TrashDDL(plan)
	if err != nil {
		return err
	}
	return s.exec(ctx, kept...)
}

// exec sends statements without the library.
func (s *scene) exec(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if _, err := s.plain.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// want is an error where a query of one number answers another one.
func (s *scene) want(ctx context.Context, number int64, query string, args ...any) error {
	var got int64
	if err := s.plain.QueryRowContext(ctx, query, args...).Scan(&got); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	if got != number {
		return fmt.Errorf("%s: %d, and not %d", query, got, number)
	}
	return nil
}

// drain works until no job is due.
func (s *scene) drain(ctx context.Context, plan schema.Plan) error {
	worker, err := cascade.NewWorker(s.db, plan, cascade.Config{MaxFailures: 1})
	if err != nil {
		return err
	}
	return worker.Drain(ctx)
}

// unless is an error with a text, unless all is well.
func unless(well bool, format string, args ...any) error {
	if well {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// first is the first that is one.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// together calls n times at the same moment, and returns the answers.
func together(n int, call func(i int) error) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-begin
			errs[i] = call(i)
		})
	}
	close(begin)
	all.Wait()
	return errs
}

// number is the number of the server's error.
func number(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

// key is an id as the queue has it.
func key(id any) string {
	text, err := onerow.EncodeKey(id)
	if err != nil {
		panic(err) // an id of this program
	}
	return text
}
