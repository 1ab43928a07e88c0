# Targets of the spiff language. The root Makefile includes this file.

FUZZTIME ?= 10m

.PHONY: spiff-conformance spiff-test spiff-bench fuzz-spiff spiff-docs spiff-docs-verify

# make spiff-conformance CORPUS=<folder> runs a folder of cases through the
# merge command of the binary.
spiff-conformance: ## Run a folder of language cases: make spiff-conformance CORPUS=<folder>.
	@test -n "$(CORPUS)" || { echo "name the folder with the cases: make spiff-conformance CORPUS=<folder>"; exit 2; }
	go build -o bin/landscaper-cli ./cmd/landscaper-cli
	go build -o bin/conformance ./test/conformance
	./bin/conformance -binary bin/landscaper-cli -corpus "$(CORPUS)"

spiff-test:
	go test ./internal/content/template/spiff/... ./internal/cli/spiff/... ./test/conformance/...

spiff-bench:
	go test ./internal/content/template/spiff -run '^$$' -bench . -benchmem

fuzz-spiff: ## Fuzz parser and evaluator of the spiff language, 10 minutes each.
	go test ./internal/content/template/spiff/syntax -run '^$$' -fuzz FuzzParse -fuzztime $(FUZZTIME)
	go test ./internal/content/template/spiff -run '^$$' -fuzz FuzzEvaluate -fuzztime $(FUZZTIME)

spiff-docs:
	go run ./internal/content/template/spiff/docgen

spiff-docs-verify:
	go run ./internal/content/template/spiff/docgen -check
