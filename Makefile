# The two commands: make demo, make test. Everything that they need is found or installed by scripts/.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

BIN := .cache/bin
# Packages that are tested at the same time. Each waits for the server about as much as for a processor, and test-others and
# test-explore run beside each other: two each keep a small machine busy.
P ?= 2
# What go test gets besides; RUN=TestName narrows it.
PKG ?= ./...
RUN ?=
# The modules whose tests run: the libraries and the command, what only proves, the examples. PKG is below one of them:
# make test MODULES=proof PKG=./soak/...
MODULES ?= $(if $(filter ./...,$(PKG)),. proof proof/deploy examples examples/layers site,.)
# All there are, which make lint reads.
ALL_MODULES := . proof proof/deploy examples examples/layers bench site cookbook
# The packages whose tests run that explore nothing; OTHERS="$(LIBRARIES)" leaves out commands, examples and what only proves.
OTHERS ?= $(PKG)
LIBRARIES := . ./repo ./cascade ./cascade/queue ./cascade/inspect ./cascade/admin ./cascade/recover ./cascade/page ./cascade/prommetrics ./oteltrace \
  ./cascade/blobassets ./cascade/internal/... ./onerowtest/... ./limit ./quota ./idempotency/... ./flow/... ./ordering ./serial ./schema/... ./migrations/... ./names \
  ./crashtest/... ./internal/sqltext ./internal/acknowledged ./internal/mysqlerr
# What has goroutines of its own, or state that callers share: where the race detector may find something.
RACED := . ./pool ./internal/guard ./internal/hosts ./cascade ./cascade/queue \
  ./cascade/prommetrics ./cascade/internal/... ./limit ./quota ./idempotency/... ./flow ./ordering ./serial
# The race detector would keep each process that ends waiting for a second.
export GORACE ?= atexit_sleep_ms=10
# VET= leaves go vet out, where make lint ran: it has the same checks. Without a build cache they take minutes.
VET ?= 1
GOTEST := go test -count=1 $(if $(VET),,-vet=off) -p $(P) -parallel 4 -timeout 30m $(if $(RUN),-run '$(RUN)')
# The race detector doubles the time, and finds what Go code does whichever engine answers: make test-race has it, on one engine.
# What keeps times is tested with clocks that differ, both ways; CLOCK=ahead has one, CLOCK= leaves them out.
RACE ?=
CLOCK ?= ahead behind
# Fail unless the server is this engine (MariaDB or MySQL), and of a version that begins so. Empty: whichever is found.
ENGINE ?=
VERSION ?=
FUZZTIME ?= 15s

.PHONY: no-demo cc program chromium faketime help demo test test-race test-others test-explore test-clock test-clock-ahead test-clock-behind test-shapes test-mysql test-mariadb-11 test-settings test-cookbook test-galera test-group test-cluster test-docker languages site release nightly lint fuzz bench bench-peers clean server withserver

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  ONEROW_MYSQLD=/path/to/mysqld chooses the server program, ONEROW_DSN=… a server that runs already."

# A server that runs already is used as ONEROW_DSN says, its database too.
DEMO ?= projects
DEMOS := $(filter-out layers first tutorial,$(patsubst examples/%/main.go,%,$(wildcard examples/*/main.go)))
demo: $(if $(filter $(DEMO),$(DEMOS)),,no-demo) ## the web app on a server of its own, data in .data; ARGS="-addr :8080" are its flags, DEMO=orders another one
	@exec scripts/demo $(DEMO) $(ARGS)

no-demo:
	@echo "there is no demo $(DEMO); DEMO is one of: $(DEMOS)" >&2; exit 2

test: server $(if $(RACE),cc program) chromium withserver ## vet and all tests, on private servers
	$(if $(VET),for module in $(MODULES); do go vet -C $$module $(PKG); done)
ifeq ($(RUN),)
	@$(MAKE) -j3 test-others test-explore $(if $(filter ./...,$(PKG)),$(addprefix test-clock-,$(CLOCK)))
else
	$(PRIVATELY) $(call in-modules,$(MODULES),$(GOTEST) $(RACE) $(PKG))
endif

test-race: ## the same with the race detector, but for explorations; twice the time
	@$(MAKE) test RACE=-race

# Under the race detector a command takes a second to begin. Those that work the queue have it, and the page in the tests'
# own process; the hundreds of others are this program.
program:
	@go build -o $(BIN)/cascade-worker ./cmd/cascade-worker
test-others: export ONEROW_TEST_PROGRAM := $(if $(RACE),$(CURDIR)/$(BIN)/cascade-worker)

# Where the tests' servers lie: in memory, if there is plenty of it. A DDL statement waits for the disk, whatever one sets.
MEMORY := $(shell awk '/^MemAvailable/ && $$2 > 12000000 { print "/dev/shm" }' /proc/meminfo 2>/dev/null)
ifeq ($(origin TMPDIR)$(shell [[ -w "$(MEMORY)" ]] && df --output=avail "$(MEMORY)" | awk 'NR == 2 { print ($$1 > 8000000) }'),undefined1)
test-others test-explore test-clock-ahead test-clock-behind test-settings test-cookbook test-cluster: export TMPDIR := $(MEMORY)
endif

# Explorations run one statement at a time, tens of thousands of them: the race detector has nothing to find there, and
# would take most of the time.
EXPLORE := Crash|Survives|Interleave|RandomSchemas
# Those of them that test-explore runs, and in which packages: of the root's module, unless it is all of them.
EXPLORED ?= $(EXPLORE)
EXPLORED_IN ?= $(PKG)
# One of those packages that it leaves out.
NOT_EXPLORED ?=
# The longest begin first, and the command before them: one that begins last has a processor for itself at the end.
LONGEST := ./cascade ./repo ./limit ./quota
WITHSERVER = $(BIN)/withserver $(if $(ENGINE),-engine $(ENGINE)) $(if $(VERSION),-version $(VERSION))
PRIVATELY = $(WITHSERVER) --
# in-modules runs a command in the folder of each of these modules, the others too where one fails.
in-modules = bash -uo pipefail -c "failed=0; for module in $(1); do cd $(CURDIR)/\$$module && $(2) || failed=1; done; exit \$$failed"
test-others:
	$(PRIVATELY) $(call in-modules,$(if $(filter ./...,$(OTHERS)),$(MODULES),.),$(GOTEST) $(RACE) -skip '$(EXPLORE)' \$$([[ \$$module != . || '$(OTHERS)' != ./... ]] || echo ./cascade/command $(LONGEST)) $(OTHERS))
test-explore:
	$(PRIVATELY) $(call in-modules,$(if $(filter ./...,$(EXPLORED_IN)),$(MODULES),.),$(CURDIR)/scripts/explorations '$(EXPLORED)' $(EXPLORED_IN) | sed '/\/$(or $(NOT_EXPLORED),none)\$$/d' | xargs -r $(GOTEST) -run '$(EXPLORED)')

# What keeps times, on a server whose clock is an hour ahead, then an hour behind. Crashes, histories and models take
# long and know no times; zones, pages and costs do not depend on the clock.
CLOCK_PKG := ./idempotency/... ./flow ./ordering ./serial
test-clock: server withserver ## the tests of what keeps times, client and server an hour apart
	@$(MAKE) -j2 test-clock-ahead test-clock-behind
test-clock-ahead: CLOCK_OF_SERVER := +1h
test-clock-behind: CLOCK_OF_SERVER := -1h
test-clock-ahead test-clock-behind: faketime
	@library=$$(scripts/get-faketime); $(WITHSERVER) -clock $(CLOCK_OF_SERVER) -faketime "$$library" -- \
	  go test -count=1 -p $(P) -timeout 10m -skip 'Crash|Faults|Interleave|Linear|Model|Runners|Property|Statements|Race|OneKey|Fuzz|Cost|Zone|Pages|ServerSize' $(CLOCK_PKG)

test-shapes: server withserver ## crashes, interleavings and models of repo for every kind of key, and of moves; minutes
	ONEROW_SHAPES=all $(PRIVATELY) $(GOTEST) -run 'Shapes|Made|MoveInterleave|Guard' ./repo

test-mysql: ## the same on real MySQL, which scripts/get-mysql fetches
	@mysqld=$$(scripts/get-mysql) && env -u ONEROW_DSN ONEROW_MYSQLD="$$mysqld" $(MAKE) test ENGINE=MySQL

test-mariadb-11: ## the same on MariaDB 11, which scripts/get-mariadb-11 fetches
	@mysqld=$$(scripts/get-mariadb-11) && env -u ONEROW_DSN ONEROW_MYSQLD="$$mysqld" $(MAKE) test ENGINE=MariaDB VERSION=11.

# Whole suites, in parts: make test-settings ARGS="-full -part 1/4".
test-settings: server ## a few tests of each package under each setting that a server or a DSN may have
	go run -C proof ./settings $(ARGS)

# A recipe fails where its naive code breaks no more, a solution does, or its page is not what was run.
RECIPE ?=
test-cookbook: server withserver languages ## the recipes, each proved on this engine; RECIPE=07 is one, ARGS=-update makes its files anew, ARGS=-short takes a minute
	$(if $(VET),go vet -C cookbook ./...)
	$(PRIVATELY) go test -C cookbook -count=1 $(if $(VET),-v,-vet=off) -ldflags='-s -w' -p 3 ./r$(RECIPE)... $(ARGS)

languages:
	@scripts/get-languages

# The tests start the nodes by themselves.
test-galera: ## the tests of proof/cluster on three nodes of MariaDB Galera, which scripts/get-galera fetches
	@galera=$$(scripts/get-galera) && mysqld=$$(PATH="$$PATH:/usr/sbin:/usr/local/sbin:/usr/libexec" command -v mariadbd) && \
	  ONEROW_MYSQLD="$$mysqld" ONEROW_GALERA="$$galera" $(MAKE) test-cluster KIND=galera
test-group: ## the same on three primaries of MySQL Group Replication
	@mysqld=$$(scripts/get-mysql) && ONEROW_MYSQLD="$$mysqld" $(MAKE) test-cluster KIND=group
test-cluster:
	go vet -C proof -tags cluster ./cluster
	ONEROW_CLUSTER=$(KIND) go test -C proof -count=1 -tags cluster -timeout 15m $(if $(RUN),-run '$(RUN)') $(ARGS) ./cluster

# devdb's own tests start local servers, so they prove nothing about a container and are left out.
test-docker: cc chromium ## the same in a container: ONEROW_TEST_IMAGE=mariadb:11 make test-docker
	@[[ -n "$${ONEROW_TEST_IMAGE:-}" ]] || { echo "set ONEROW_TEST_IMAGE to an image, for example mariadb:11 or mysql:9" >&2; exit 1; }
	@mkdir -p $(BIN)
	@go build -o $(BIN)/withcontainer ./internal/devdb/cmd/withcontainer
	go vet $(PKG)
	env -u ONEROW_DSN $(BIN)/withcontainer -- $(GOTEST) -race $$(go list $(PKG) | grep -v '/internal/devdb$$')

site: ## the documents and the reference as a web site in .cache/site; ARGS="-serve :8000" shows it
	@go run -C site . $(ARGS)

release: ## a dry run of VERSION=v0.1.0: tests, binaries with checksums, notes, and what is in the way; ARGS=-no-tests
	@scripts/release $(ARGS) $(VERSION)

nightly: ## what takes hours: explorations at each level on each engine, planted bugs, soak; resumable; ARGS="-part 2/8", ARGS=-list
	@scripts/nightly $(ARGS)

# The Go after the one in go.mod: what it refuses is found before a user has it.
NEXT_GO := go1.27.0
print-next-go:
	@echo $(NEXT_GO)
# All of it is make next-go NEXT_MODULES="proof proof/deploy examples/layers bench site cookbook", which is make nightly's.
NEXT_MODULES ?= . examples
next-go: ## vet modules with the next Go, which compiles them, and build them
	for module in $(NEXT_MODULES); do GOTOOLCHAIN=$(NEXT_GO) go vet -C $$module ./... && GOTOOLCHAIN=$(NEXT_GO) go build -C $$module -o /dev/null ./...; done

lint: ## gofmt, comments of at most 110 columns, and golangci-lint, the version that scripts/get-lint pins
	@unformatted=$$(git ls-files --cached --others --exclude-standard -- '*.go' | xargs -r gofmt -l); \
	  [[ -z "$$unformatted" ]] || { echo "not formatted with gofmt:" $$unformatted >&2; exit 1; }
	@git ls-files --cached --others --exclude-standard -- '*.go' ':!*_test.go' | xargs -r perl -CSD -ne '($$l = $$_) =~ s/\t/    /g;' \
	  -e 'if ($$l =~ m{^ *//( |   - |     )\S} && length($$l) > 111) { print STDERR "$$ARGV:$$.: a comment of more than 110 columns\n"; $$bad = 1 }' \
	  -e 'close ARGV if eof; END { exit($$bad ? 1 : 0) }'
	@cd .github && go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 workflows/*.yml
	@for module in $(ALL_MODULES); do go mod tidy -C $$module -diff; done
	@lint=$$(scripts/get-lint); for module in $(ALL_MODULES); do (cd $$module; "$$lint" run --build-tags cluster,prove ./...); done

fuzz: server withserver ## each fuzz target for FUZZTIME (15s)
	@$(BIN)/withserver -- scripts/fuzz-all $(FUZZTIME)

bench: server withserver ## benchmarks, without the race detector
	$(BIN)/withserver -- go test -run '^$$' -bench '$(or $(RUN),.)' -benchmem -p 1 -timeout 60m $(PKG)

bench-peers: ## onerow beside Redis, River and asynq, on MariaDB and MySQL; ARGS='--only replay' are flags, '--help' lists them
	@peers=$$(scripts/get-peers) && mysql=$$(scripts/get-mysql) && scripts/get-mariadb && \
	  mariadb=$$(PATH="$$PATH:/usr/sbin:/usr/local/sbin:/usr/libexec" command -v mariadbd) && \
	  cd bench && go run . --server "$$mariadb" --server "$$mysql" --peers "$$peers" $(ARGS)

clean: ## removes what the other targets made: .cache and the demo's .data
	rm -rf .cache .data

# A server program, unless one is chosen, running or there.
server:
	@[[ -n "$${ONEROW_DSN:-}$${ONEROW_MYSQLD:-}" ]] \
	  || PATH="$$PATH:/usr/sbin:/usr/local/sbin:/usr/libexec" command -v mariadbd mysqld >/dev/null \
	  || { echo "No MariaDB or MySQL server on this machine: getting one." >&2; scripts/get-mariadb; }

# The race detector is C.
cc:
	@scripts/get-cc

# The test of the operator's page uses it in a browser.
chromium:
	@scripts/get-chromium

faketime:
	@scripts/get-faketime >/dev/null

withserver: ## .cache/bin/withserver, which runs a command on a server of its own
	@mkdir -p $(BIN)
	@go build -o $(BIN)/withserver ./internal/devdb/cmd/withserver
