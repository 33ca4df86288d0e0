package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The kinds of several servers.
const (
	galera   = "galera"
	group    = "group"
	semisync = "semisync"
	async    = "async"
)

// The kinds of trouble.
const (
	kill   = "kill"
	freeze = "pause"
	cut    = "cut"
	hand   = "hand"
)

// troubles are those that the kind of servers knows. Where every node writes, nobody hands anything over.
func (o options) troubles() []string {
	all := []string{kill, freeze, cut}
	if !o.everyNodeWrites() {
		all = append(all, hand)
	}
	return all
}

// everyNodeWrites says whether locks of rows do not reach all who write.
func (o options) everyNodeWrites() bool { return o.kind == galera || o.kind == group }

const clusterHelp = `usage: go run -C proof ./soak cluster -kind galera|group|semisync|async [flags]

The soak's load through all of several private servers, and then its check of all tables, on one of them; the
tables of the others must have the same checksums.

  galera    three nodes of MariaDB Galera. cut: one is isolated from the others (gmcast.isolate) and healed
  group     three primaries of MySQL Group Replication. cut: one is stopped until it is expelled, and comes back
  semisync  a primary with two semi-synchronous replicas. kill: the primary is killed, the replica that has most
            is promoted, and the old primary is made anew as a copy of the other one; or a replica is killed.
            cut: the replicas do not reach the primary for a while; half of the time it is killed meanwhile
            hand: the primary becomes read only, a replica is promoted, and the old primary goes on as a replica
  async     the same without semi-synchronous commits: a control, which prints what was acknowledged and lost,
            and fails if nothing was

kill is SIGKILL, and the server comes back; pause is SIGSTOP, and SIGCONT. SIGINT ends the chaos early, and the
check is still made; a second one ends everything. Exit codes: 0, nothing is broken; 1, something is; 2, the soak
itself failed.

`

// clusterFlags are the flags that only several servers have. The function that it returns looks at them.
func (o *options) clusterFlags(flags *flag.FlagSet) func() error {
	o.webs, o.workers, o.between = 3, 3, 3*time.Second
	flags.StringVar(&o.kind, "kind", "", "galera, group, semisync or async")
	flags.BoolVar(&o.hosts, "hosts", true, "each pool is told of all nodes, and finds one that is up; with -hosts=false a load balancer in front of it does")
	flags.StringVar(&o.engine, "engine", "", "of semisync and async: mariadb or mysql; default: the server program that is found")
	trouble := flags.String("trouble", "", "what happens to servers; default: all that their kind knows")
	flags.Usage = func() {
		if _, err := fmt.Fprint(flags.Output(), clusterHelp); err == nil {
			flags.PrintDefaults()
		}
	}
	return func() error {
		switch o.kind {
		case galera, group:
			if o.engine != "" {
				return errors.New("-engine is for semisync and async: Galera is MariaDB, Group Replication is MySQL")
			}
		case semisync, async:
		default:
			return fmt.Errorf("-kind must be galera, group, semisync or async, not %q", o.kind)
		}
		known := o.troubles()
		if o.trouble = known; *trouble != "" {
			o.trouble = strings.Split(*trouble, ",")
		}
		for _, t := range o.trouble {
			if !slices.Contains(known, t) {
				return fmt.Errorf("-trouble must be some of %s, not %q", strings.Join(known, ","), t)
			}
		}
		return nil
	}
}
