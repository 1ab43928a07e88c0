# Landscaper. "make" lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Tests and tools are built as the programs are: without C. With it, every package that
# can reach the network would be compiled once more, and programs with kustomize would be
# linked by the C compiler, with all methods of all types.
export CGO_ENABLED := 0
# Programs, tests and the lab are compiled with the same flags, so that each package is
# compiled once.
export GOFLAGS := $(filter-out -trimpath,$(GOFLAGS)) -trimpath

BIN := $(CURDIR)/bin
TOOLS := $(CURDIR)/tools

# The packages of the main module. Modules in subfolders (lab, tools) are not part of it.
PACKAGES := ./...
UNIT = $(shell go list ./... | grep -v -e /test/integration -e /test/published -e /test/packages -e /test/e2e -e /test/resilience -e /test/secrets -e /test/moves -e /test/exactness -e /test/flux -e /test/lab -e /test/shootflux -e /test/causes -e /test/hostile/attacks -e /test/console)
SOURCES = $(shell find . -name '*.go' -not -path './lab/*' -not -path './bin/*' 2>/dev/null) go.mod go.sum $(wildcard internal/console/web/dist/*)

include internal/content/template/spiff/spiff.mk

.PHONY: help
help: ## List the targets.
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-20s %s\n", $$1, $$2}'

##
.PHONY: build
build: $(BIN)/landscaper $(BIN)/landscaper-cli $(BIN)/gardener-extension-shoot-flux ## Build the server, the command line and the extension for Gardener (first time: 2 minutes).

$(BIN)/landscaper $(BIN)/landscaper-cli $(BIN)/gardener-extension-shoot-flux: $(SOURCES)
	@echo "building $(@F) ..."
	@go build -o $@ ./cmd/$(@F)

.PHONY: lab
lab: ## Build all of the lab: control planes, a scheduler, Flux, KWOK and a registry (first time: 40 minutes of CPU).
	@$(MAKE) --no-print-directory -C lab build

DEMO ?=
# What the demo runs, besides the lab. The lab builds the programs that it starts itself.
DEMO_PROGRAMS := ./cmd/landscaper ./cmd/landscaper-cli ./hack/demo

.PHONY: demo
demo: demo-time ## Bring up the data flow example in a lab, and check it (DEMO=-one-target for one target cluster).
	@go build -o $(BIN)/ $(DEMO_PROGRAMS)
	@$(MAKE) -s --no-print-directory -C lab program
	@$(BIN)/demo $(DEMO)

.PHONY: dev
dev: dev-time $(BIN)/landscaper-cli ## Run a landscape in a lab, and rebuild and restart the server on each change, until Ctrl-C.
	@$(MAKE) -s --no-print-directory -C lab program
	@go build -o $(BIN)/dev ./hack/dev && exec $(BIN)/dev

# How long it takes is said before anything is built.
.PHONY: demo-time dev-time
demo-time:
	@hack/announce.sh "make demo" "20 seconds" controlplane registry source-controller kustomize-controller kubectl
dev-time:
	@hack/announce.sh "make dev" "20 seconds until the landscape is up" controlplane

.PHONY: flux-manifests
flux-manifests: ## Write the manifests of Flux that examples install, from the modules of the lab.
	@examples/kustomize/install-flux/commands/render-manifests.sh
	@examples/kustomize/flux-per-tenant/commands/render-manifests.sh

.PHONY: shoot-flux-manifests
shoot-flux-manifests: $(BIN)/controller-gen ## Write the manifests of Flux that the extension shoot-flux installs, from the modules.
	@cd $(TOOLS)/flux-manifests && go run . -controllers ../../lab/flux -controller-gen $(BIN)/controller-gen \
		-out $(CURDIR)/internal/controller/shootflux/install/flux -own $(CURDIR)/internal/controller/shootflux/install/testdata

CONSOLE := internal/console/web

.PHONY: console
console: ## Build the pages of the console into internal/console/web/dist (needs Node and a registry of npm).
	@command -v npm >/dev/null || { echo "There is no npm: install Node 20 or newer." >&2; exit 1; }
	@cd $(CONSOLE) && npm ci --silent --no-audit --no-fund --foreground-scripts && npm run --silent build

.PHONY: test-pages
test-pages: ## Unit tests of the console's pages, without a browser (needs Node; "make verify" and "make test-console" run them, too).
	@command -v npm >/dev/null || { echo "There is no npm: install Node 20 or newer." >&2; exit 1; }
	@test -x $(CONSOLE)/node_modules/.bin/esbuild || (cd $(CONSOLE) && npm ci --silent --no-audit --no-fund --foreground-scripts)
	@cd $(CONSOLE) && npm test --silent

# The pages of a release stand beside those of others: make site VERSION=v0.1.0.
.PHONY: site
site: ## Make the documentation site of docs, in bin/site (VERSION=v0.1.0 for that of a release). Links that lead nowhere fail.
	@cd $(TOOLS)/site && go run . -root $(CURDIR) -out $(BIN)/site -version '$(or $(VERSION),main)'

IMAGE ?= registry.example.org/gardener-extension-shoot-flux:0.1.0
CHART ?= registry.example.org/charts/gardener-extension-shoot-flux:0.1.0

.PHONY: shoot-flux-registration
shoot-flux-registration: ## Write the registrations of the extension shoot-flux (IMAGE=name:tag CHART=reference).
	@go run ./hack/registration -chart charts/gardener-extension-shoot-flux -reference $(CHART) -image $(IMAGE) -out examples/shoot-flux

.PHONY: session
session: build lab ## Record a terminal session of the command line for the docs.
	go run ./hack/session docs/pictures/session.svg

# The parts of the whole test. Those that only compare files come first.
PARTS := verify lint licences test-unit test-release test-race-concurrent test-lab test-integration test-published test-e2e test-e2e-race

.PHONY: test
test: ## Everything: generated files, lint, all tests; continues after a failing part and sums up.
	@hack/test.sh $(PARTS)

TESTFLAGS ?=
# "make lint" vets everything, tests included. A second time it would be 9 % of the CPU when all
# unit tests are compiled.
GOTEST := go test -vet=off

.PHONY: test-unit
test-unit: ## Tests without a cluster (once compiled, 2 minutes on 2 cores; unchanged packages take seconds).
	$(GOTEST) $(TESTFLAGS) $(UNIT)
	cd $(TOOLS)/site && $(GOTEST) $(TESTFLAGS) ./...

.PHONY: test-alerts
test-alerts: ## Play the tests of the alert rules in the engine of Prometheus, and let kube-state-metrics read its configuration (first time: 3 minutes).
	cd $(TOOLS)/alerts && $(GOTEST) $(TESTFLAGS) ./...
	cd $(TOOLS)/states && $(GOTEST) $(TESTFLAGS) ./...

RACE ?= $(UNIT)

.PHONY: test-race
test-race: ## The same tests with the race detector (needs a C compiler; RACE=packages for some of them).
	@hack/race.sh test -timeout 40m $(TESTFLAGS) $(RACE)

# The packages with much concurrency. Their tests that weigh one large answer are left
# out: with the race detector they take longer than the program waits.
CONCURRENT := deployer internal/runtime/watchdecoder internal/runtime/parallelize internal/runtime/job internal/runtime/reporter internal/runtime/queue internal/telemetry/metrics internal/runtime/workpool internal/runtime/dispatch internal/controller/execution \
	internal/model/dataflow/siblinggraph internal/cluster internal/cluster/login internal/content/component/cache
WEIGHED := WithoutEnd$$|LargeObjects$$|CoversTheHeap$$

.PHONY: test-race-concurrent
test-race-concurrent: ## Unit tests of the packages with much concurrency, with the race detector.
	@hack/race.sh test -vet=off -timeout 40m -skip '$(WEIGHED)' $(TESTFLAGS) $(addprefix ./,$(CONCURRENT))

PACKAGE ?= ./internal/controller/installation
TEST ?= .
TIMES ?= 20

.PHONY: deflake
deflake: ## Run a test many times, in random order: make deflake PACKAGE=./test/e2e TEST=TestMinimal TIMES=5.
	go test -count=$(TIMES) -shuffle=on -failfast -timeout 0 -run '$(TEST)' $(PACKAGE)

.PHONY: test-lab
test-lab: lab ## The lab's own tests.
	$(GOTEST) -count=1 ./test/lab/...
	@$(MAKE) --no-print-directory -C lab test

.PHONY: test-integration
test-integration: build lab ## Tests against real API servers.
	$(GOTEST) -count=1 -timeout 30m -p 3 -parallel 8 ./test/integration/...

.PHONY: test-earlier-kubernetes
test-earlier-kubernetes: build lab ## Installing, rights and the command line against API servers that behave like Kubernetes 1.34.
	LAB_KUBERNETES=1.34 $(GOTEST) -count=1 -timeout 30m -p 3 ./test/integration ./test/integration/chart ./test/integration/cli ./test/integration/clusterfunc ./test/integration/component ./test/integration/console

# Each package has a lab of its own and waits for it much of the time, so several packages run
# at once, on any machine. Those that take longest begin.
.PHONY: test-e2e
test-e2e: build lab ## Whole scenarios on several clusters.
	go run ./hack/slowest -vet=off -count=1 -timeout 60m -p 3 ./test/e2e ./test/resilience ./test/secrets ./test/flux ./test/moves ./test/shootflux ./test/causes ./test/exactness
	$(GOTEST) -count=1 -timeout 30m ./test/hostile/attacks

.PHONY: test-console
test-console: build lab ## The console in a real browser (needs Chromium: apt-get install chromium, and Node; SCREENSHOTS=folder for pictures).
	@command -v "$${CHROMIUM:-chromium}" chromium-browser google-chrome chrome >/dev/null || \
		{ echo "There is no Chromium: install it (Debian: apt-get install chromium), or name its program in CHROMIUM." >&2; exit 1; }
	@test -f $(CONSOLE)/node_modules/axe-core/axe.min.js || (cd $(CONSOLE) && npm ci --silent --no-audit --no-fund --foreground-scripts) || \
		{ echo "axe-core, which checks accessibility, is not there: install Node 20 or newer, with a registry of npm." >&2; exit 1; }
	@$(MAKE) --no-print-directory test-pages
	$(GOTEST) -count=1 -timeout 10m -p 1 ./test/console/...

.PHONY: attacks
attacks: build lab ## Play the attacks of tenants against a server with 512 MiB, and print the table (3 minutes).
	@cd test/hostile/attacks && go test -count=1 -timeout 30m

FUZZTIME ?= 1m
CASE ?= -1

HISTORIES ?= 10000
FROM ?= 1
ONLY ?=
FIRST ?= $(shell date +%s)
FOR ?= 0

.PHONY: protections
protections: ## Take the protections of the controllers out, one by one, until the model notices (HISTORIES=10000, ONLY=words, FROM=1 for another first seed).
	go run ./test/model/protections -histories $(HISTORIES) -first $(FROM) -only '$(ONLY)'

.PHONY: soak-histories
soak-histories: ## Histories of the model, until one is wrong or it is stopped (FOR=2h for an end, FIRST=1 for another first seed).
	go test -count=1 -timeout 0 ./test/model -run 'TestHistories$$' -v -first $(FIRST) -histories 1000000000 -for $(FOR)

.PHONY: composed
composed: ## Compose hostile blueprints, charts, kustomizations and answers for as long as FUZZTIME says (SEED=7 CASE=3 for one of them).
	go test -count=1 -timeout 0 ./test/hostile/fuzz -run TestComposed -v -fuzz-time $(FUZZTIME) -seed $(SEED) -case $(CASE)

.PHONY: causes
causes: build lab ## Cause every fault of the catalogue, look at the root, and print the table (5 minutes).
	@cd test/causes && go test -count=1 -timeout 15m

CHANGES ?= 300
SEED ?= 0

.PHONY: plan-exactness
plan-exactness: build lab ## Compare plans and previews of deletions with what jobs change: make plan-exactness CHANGES=300 SEED=7.
	go test -count=1 -timeout 60m ./test/exactness -run TestPlansAreExact -v -changes $(CHANGES) -seed $(SEED)

# The scenarios in which many parts of the server run at the same time.
E2E_RACE ?= ^(TestMinimal|TestTree|TestAutomaticReconcile|TestReconcileIfChanged|TestDependents|TestServerTriggers|TestOrder|TestExports|TestHelm|TestContract|TestTargetOfShoot|TestForceReconcile|TestAbort|TestCycleOfRoots)

.PHONY: test-e2e-race
test-e2e-race: build lab ## Scenarios with a server that finds data races (needs a C compiler; E2E_RACE=pattern).
	@hack/race.sh build -o $(BIN)/race/landscaper ./cmd/landscaper
	@if [ ! -s "$${NOT_RUN:-/dev/null}" ]; then \
		LANDSCAPER_PROGRAMS=$(BIN)/race $(GOTEST) -count=1 -timeout 60m -run '$(E2E_RACE)' ./test/e2e ./test/resilience; \
	fi

.PHONY: fuzz
fuzz: ## Run each fuzz test for a time (FUZZTIME=1m), and compose hostile content as long.
	@hack/fuzz.sh $(FUZZTIME)
	@$(MAKE) --no-print-directory composed

SOAK ?= 1h

.PHONY: soak
soak: build lab ## Chaos for as long as SOAK says (1h): kills and faults while trees run.
	go test -count=1 -timeout 0 ./test/e2e -run TestChaos -v -chaos-time $(SOAK)

.PHONY: bench
bench: build lab spiff-bench ## Benchmarks: counted work and times.
	@$(MAKE) --no-print-directory -C lab bench
	go run ./test/bench -json out/bench.json -history test/bench/history.jsonl

.PHONY: generate
generate: $(BIN)/controller-gen ## Write what is generated from other files: deep copies, CRDs, policies, references.
	@$(BIN)/controller-gen object paths="./api/...;./internal/controller/shootflux/gardener"
	@rm -f api/crds/*.yaml api/policies/*.yaml api/delivery/crds/*.yaml api/delivery/policies/*.yaml api/fleet/crds/*.yaml
	@$(BIN)/controller-gen crd paths=./api/v1alpha1 output:crd:dir=api/crds
	@$(BIN)/controller-gen crd paths=./api/delivery/v1alpha1 output:crd:dir=api/delivery/crds
	@$(BIN)/controller-gen crd paths=./api/fleet/v1alpha1 output:crd:dir=api/fleet/crds
	@go run ./hack/generate
	@go run ./internal/content/template/spiff/docgen
	@go run ./internal/cli/docgen
	@$(MAKE) --no-print-directory shoot-flux-manifests shoot-flux-registration

.PHONY: verify
verify: ## Check that generated files and go.mod are up to date.
	@hack/verify.sh

VERSION ?=
REGISTRY ?= registry.example.org/landscaper
# Further arguments, as in RELEASE="-key cosign.key -push"; "bin/release -help" lists them.
RELEASE ?=

.PHONY: release
release: $(BIN)/release ## Make everything that a release publishes, in dist/: make release VERSION=v0.1.0 REGISTRY=registry.example.org/landscaper.
	@$(BIN)/release -version '$(VERSION)' -registry '$(REGISTRY)' $(RELEASE)

.PHONY: release-check
release-check: $(BIN)/release ## Make a release twice in different folders and compare the bytes (RELEASE="-platforms linux/amd64" takes 4 minutes on 2 cores).
	@hack/release-check.sh $(BIN)/release $(RELEASE)

.PHONY: test-release
test-release: ## Tests of the program that makes releases, with the reference registry, Helm and cosign as readers.
	cd $(TOOLS)/release && $(GOTEST) $(TESTFLAGS) ./...

.PHONY: test-published
test-published: $(BIN)/release $(BIN)/landscaper-cli lab ## Publish a release into a registry of the lab, and install it from there in each way (3 minutes on 2 cores).
	$(GOTEST) -count=1 -timeout 20m -skip '^(TestEarlier|TestByFlux|TestLarge)' ./test/published

# Its helm-controller takes a minute to build, and nothing else needs it.
.PHONY: test-by-flux
test-by-flux: $(BIN)/release $(BIN)/landscaper-cli lab ## Publish a release, and let the controllers of Flux verify and install it.
	$(GOTEST) -count=1 -timeout 20m -run '^TestByFlux' ./test/published

# Arguments of the test: PACKAGED="-made $(CURDIR)/dist -version v0.1.0" takes what "make release" has made.
PACKAGED ?=
# What it needs beyond the programs of make, by the packages of Debian that bring it.
PACKAGERS := dpkg:dpkg rpm:rpm ruby:ruby qemu-aarch64-static:qemu-user-static unshare:util-linux

.PHONY: test-packages
test-packages: $(BIN)/release $(BIN)/krew ## Install what package managers get, by dpkg, rpm, krew and Ruby, and run arm64 (needs rpm, ruby and qemu-user-static).
	@for needed in $(PACKAGERS); do \
		command -v "$${needed%%:*}" >/dev/null || { echo "There is no $${needed%%:*}: install it (Debian: apt-get install $${needed##*:})." >&2; exit 1; }; \
	done
	$(GOTEST) -count=1 -timeout 30m ./test/packages $(PACKAGED)

# Of before there was a release: six days and five revisions of the API older than the test.
# The tag of the last release takes its place.
EARLIER ?= 9cf790ee0ff036f3ea4806fda422241d84b96112
REST ?= 50

.PHONY: test-upgrade
test-upgrade: $(BIN)/release lab ## Upgrade a release of an earlier commit, cut upgrades, and go back (needs the history; REST=1000 for more Installations).
	@hack/earlier.sh $(EARLIER) $(BIN)/earlier
	$(GOTEST) -v -count=1 -timeout 40m -run '^TestEarlier' ./test/published -rest $(REST)

LARGE ?= 10000

.PHONY: test-upgrade-large
test-upgrade-large: $(BIN)/release lab ## Upgrade a release of an earlier commit with many Installations at rest, and measure that (LARGE=10000).
	@hack/earlier.sh $(EARLIER) $(BIN)/earlier
	$(GOTEST) -v -count=1 -timeout 120m -run '^TestLargeUpgrade$$' ./test/published -rest $(LARGE)

.PHONY: licences
licences: $(BIN)/release ## Check that the licences of all dependencies fit that of the project.
	@$(BIN)/release -licences

.PHONY: vulnerabilities
vulnerabilities: $(BIN)/govulncheck ## Look for known vulnerabilities in what the programs call (needs a network; GOVULNDB=address of the database).
	@$(BIN)/govulncheck ./cmd/...

# The program follows the module that it makes releases of.
.PHONY: $(BIN)/release
$(BIN)/release:
	@cd $(TOOLS)/release && go build -o $@ .

.PHONY: lint
lint: $(BIN)/golangci-lint ## Check the lint rules (first time: 2 minutes for the linter).
	$(BIN)/golangci-lint run --allow-serial-runners
	@$(MAKE) --no-print-directory -C lab lint

$(BIN)/%: $(TOOLS)/%/go.mod
	@echo "building $(@F) (1 to 2 minutes) ..."
	@cd $(<D) && go build -o $@ $$(sed -n 's/^tool //p' go.mod | head -n 1)

FIGURES ?=

.PHONY: figures
figures: $(BIN)/deadcode ## Measure the code base, as a table (FIGURES=-unit measures the time of test-unit, too).
	@go run ./hack/figures -deadcode $(BIN)/deadcode $(FIGURES)

.PHONY: clean
clean: ## Remove everything that was built.
	rm -rf bin dist out
