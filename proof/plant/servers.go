package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/onerow/onerow/internal/devdb"
)

// server is one on which the tests run.
type server struct {
	*devdb.Server
	env []string // by which tests find it, and programs like it
}

func (s *server) String() string { return s.Engine() + " " + s.Version() }

// startServers starts a private server of each program; of none: the one that package devdb finds.
func startServers(ctx context.Context, programs []string) (servers []*server, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, closeServers(servers))
		}
	}()
	if len(programs) == 0 {
		s, err := devdb.Start(ctx, devdb.Options{})
		if err != nil {
			return nil, err
		}
		servers = append(servers, &server{s, []string{devdb.EnvDSN + "=" + s.DSN("")}})
	}
	for _, program := range programs {
		if err := os.Setenv(devdb.EnvMysqld, program); err != nil {
			return servers, err
		}
		s, err := devdb.Start(ctx, devdb.Options{Private: true})
		if err != nil {
			return servers, err
		}
		servers = append(servers, &server{s, []string{devdb.EnvDSN + "=" + s.DSN(""), devdb.EnvMysqld + "=" + program}})
	}
	for _, s := range servers {
		fmt.Println("on", s)
	}
	return servers, nil
}

// onlyOn are bugs of one engine: the other one does not read what they change.
//
//nolint:gochecknoglobals // a constant
var onlyOn = map[string]string{
	"MariaDB may take any index for a list": devdb.MariaDB,
	"MariaDB's word NULL is a default":      devdb.MariaDB,
	"a session pads what it reads":          devdb.MySQL,
}

// on are the servers on which it is a bug.
func (b bug) on(servers []*server) []*server {
	engine := onlyOn[b.name]
	return slices.DeleteFunc(slices.Clone(servers), func(s *server) bool { return engine != "" && s.Engine() != engine })
}

func closeServers(servers []*server) (err error) {
	for _, s := range servers {
		err = errors.Join(err, s.Close())
	}
	return err
}
