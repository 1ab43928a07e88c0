#!/usr/bin/env bash
# Checks that generated files are up to date, that the pages of the console pass their tests,
# that all packages build without their tests, and that no program compiles a module in a
# version of its own. The tree may be dirty: files are compared before and after.
set -eu -o pipefail
cd "$(dirname "$0")/.."

fingerprint() {
  find api docs internal/console/web/dist internal/controller/shootflux/gardener internal/controller/shootflux examples/shoot-flux -type f \( -name '*.yaml' -o -name 'zz_generated*' -o -name '*.md' -o -name 'revision.txt' -o -path 'api/schemas/*.json' -o -path '*/web/dist/*' \) -print0 |
    sort -z | xargs -0 sha256sum
}

before=$(fingerprint)
make --no-print-directory generate
# Without a registry of npm, as without Node, the bundle is that of the commit.
if command -v npm >/dev/null && npm ping --silent --fetch-retries 0 --fetch-timeout 10000 >/dev/null 2>&1; then
  make --no-print-directory console test-pages
else
  echo "The bundle of the console is not compared, and its pages are not tested: there is no Node, or its registry does not answer." >&2
fi
after=$(fingerprint)
if ! drift=$(diff <(echo "$before") <(echo "$after")); then
  echo "Generated files were out of date and were written anew. Commit them:" >&2
  echo "$drift" | sed -n 's/^[<>] [0-9a-f]*  /  /p' | sort -u >&2
  exit 1
fi

# A build of the tests does not show this: it has names that the programs lack.
go build ./...

unformatted=$(gofmt -l $(git ls-files -co --exclude-standard '*.go'))
if [ -n "$unformatted" ]; then
  echo "Not formatted, run gofmt -w:" $unformatted >&2
  exit 1
fi

for module in $(git ls-files -co --exclude-standard '*go.mod'); do
  (cd "$(dirname "$module")" && go mod tidy -diff) ||
    { echo "$module is not tidy: run go mod tidy there" >&2; exit 1; }
done
if grep -q '^replace' go.mod; then
  echo "the main module must not replace modules" >&2
  exit 1
fi
go run ./hack/versions
echo "generated files, formats and modules are up to date, and all packages build"
