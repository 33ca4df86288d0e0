package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/proof/soak/check"
)

// TestClusterOptions: the flags of several servers, and the command that repeats a run with them.
func TestClusterOptions(t *testing.T) {
	o, err := parseOptions(strings.Fields("cluster -kind galera -minutes 0.5 -seed 7 -clients 9 -trouble kill,cut"))
	if err != nil || o.kind != galera || !o.hosts || o.webs != 3 || !slices.Equal(o.trouble, []string{kill, cut}) || !o.everyNodeWrites() {
		t.Errorf("%+v, %v", o, err)
	}
	t.Setenv("ONEROW_MYSQLD", "")
	if got := o.command(); got != "go run -C proof ./soak cluster -kind galera -minutes 0.5 -clients 9 -seed 7 -trouble kill,cut" {
		t.Error(got)
	}
	if o, err := parseOptions(strings.Fields("-minutes 1 -seed 7")); err != nil || o.kind != "" || o.hosts || o.everyNodeWrites() {
		t.Errorf("one server: %+v, %v", o, err)
	}
	for args, want := range map[string]string{
		"cluster":            `-kind must be galera, group, semisync or async, not ""`,
		"cluster -kind raft": `not "raft"`,
		"cluster -kind galera -trouble earthquake":  `not "earthquake"`,
		"cluster -kind group -trouble hand":         `must be some of kill,pause,cut, not "hand"`,
		"cluster -kind group -engine mariadb":       "-engine is for semisync and async",
		"cluster -kind semisync -minutes 0":         "-minutes must be more than 0",
		"cluster -kind semisync -clients 2":         "-clients must be 3 or more",
		"cluster -kind semisync -engine postgresql": "-engine must be mariadb or mysql",
		"cluster -kind galera more":                 `there is no "more"`,
	} {
		if _, err := parseOptions(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestUntroubled: a long run in which a kind of trouble did not come shows nothing of it.
func TestUntroubled(t *testing.T) {
	s := &soak{options: options{kind: group, trouble: []string{kill, freeze}}, length: short}
	s.chaos.serverKills.Store(2)
	if err := s.untroubled(); err == nil || !strings.Contains(err.Error(), `"pause"`) {
		t.Errorf("no pause: %v", err)
	}
	s.chaos.pauses.Store(1)
	if err := s.untroubled(); err != nil {
		t.Error(err)
	}
	s.chaos.serverKills.Store(1) // the last one is not drawn
	if err := s.untroubled(); err == nil {
		t.Error("no kill but the last one")
	}
	s.length = short - 1
	if err := s.untroubled(); err != nil {
		t.Errorf("a short run: %v", err)
	}
}

// TestLostNothing: the control fails if it shows nothing.
func TestLostNothing(t *testing.T) {
	if lostNothing([]check.Finding{{Promise: check.Serials, Column: check.Duplicate}}) == nil {
		t.Error("nothing was lost")
	}
	if err := lostNothing([]check.Finding{{Promise: check.Serials, Column: check.Lost}}); err != nil {
		t.Error(err)
	}
}
