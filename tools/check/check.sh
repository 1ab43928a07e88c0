#!/usr/bin/env bash
# Checks the blueprints of a Git repository: the action for GitHub and the hooks of pre-commit run it.
#
#   check.sh validate [FILE...]            blueprints that have one of the files; all without files
#   check.sh test                          the tests of the repository (*_test.yaml)
#   check.sh compare [--base REF] [FILE...]  blueprints that have changed since the common ancestor with REF
#
# LANDSCAPER_CLI is the program (default: landscaper-cli). REF is LANDSCAPER_BASE, else origin/HEAD, else HEAD.
# With LANDSCAPER_ALLOW_BREAKING=true, what is breaking is shown and does not fail.
set -eu -o pipefail

cli=${LANDSCAPER_CLI:-landscaper-cli}
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

fail() {
  echo "check.sh: $*" >&2
  exit 64
}

# parent sets directory to that of a file. The output of dirname would lose newlines at the end of a name.
parent() {
  case $1 in
  /*/*) directory=${1%/*} ;;
  /*) directory=/ ;;
  */*) directory=${1%/*} ;;
  *) directory=. ;;
  esac
}

# blueprint_of prints the directory of the blueprint that a file belongs to: the nearest one above it.
blueprint_of() {
  local directory
  parent "$1"
  while true; do
    if [ -f "$directory/blueprint.yaml" ]; then
      printf '%s\0' "$directory"
      return
    fi
    case $directory in . | /) return ;; esac
    parent "$directory"
  done
}

# blueprints prints the directories of the blueprints of some files, or of all in the repository. Each ends with a
# zero byte: names may have newlines.
blueprints() {
  if [ $# -gt 0 ]; then
    local file
    for file in "$@"; do
      blueprint_of "$file"
    done | sort -zu
    return
  fi
  local directory
  git ls-files -z --cached --others --exclude-standard -- 'blueprint.yaml' '*/blueprint.yaml' | while IFS= read -r -d '' file; do
    if [ -f "$file" ]; then
      parent "$file"
      printf '%s\0' "$directory"
    fi
  done | sort -zu
}

validate() {
  local found=()
  blueprints "$@" >"$scratch/found" # a file, since the code of a substitution is lost
  mapfile -d '' -t found <"$scratch/found"
  if [ ${#found[@]} -eq 0 ]; then
    echo "There is no blueprint to validate."
    return
  fi
  "$cli" blueprints validate ${LANDSCAPER_STRICT:+--strict} -- "${found[@]}"
}

tests() {
  local code=0
  "$cli" test || code=$?
  if [ "$code" -eq 3 ]; then
    echo "There are no tests."
    code=0
  fi
  return "$code"
}

# base prints the commit to compare with.
base() {
  local reference=$1
  if [ -z "$reference" ]; then
    reference=$(git rev-parse --verify --quiet --abbrev-ref origin/HEAD || echo HEAD)
  fi
  git rev-parse --verify --quiet "$reference^{commit}" >/dev/null || fail "there is no commit $reference: fetch it, or name another one with --base"
  git merge-base "$reference" HEAD || fail "$reference and HEAD have no common ancestor: fetch the whole history"
}

# compare_one compares the blueprint of a directory with what is at a path of a commit.
compare_one() {
  local commit=$1 path=$2 directory=$3 was code=0
  was=$(mktemp -d "$scratch/XXXXXX")
  # In a directory of the repository, git archive would look for that one below the path.
  git -C "$(git rev-parse --show-toplevel)" archive --format=tar "$commit:$path" | tar -x -C "$was" -f -
  printf 'blueprint %q:\n' "$directory" # the name may have commands for the terminal, or for the forge
  "$cli" blueprints compare ${LANDSCAPER_STRICT:+--strict} -- "$was" "$directory" || code=$?
  if [ "$code" -eq 2 ] && [ "${LANDSCAPER_ALLOW_BREAKING:-}" = true ]; then
    code=0
  fi
  return "$code"
}

compare() {
  local reference=${LANDSCAPER_BASE:-} commit prefix directory path code worst=0 compared=0
  if [ "${1:-}" = --base ]; then
    [ $# -ge 2 ] || fail "--base needs a commit"
    reference=$2
    shift 2
  fi
  commit=$(base "$reference")
  prefix=$(git rev-parse --show-prefix)
  blueprints "$@" >"$scratch/found"
  while IFS= read -r -d '' directory; do
    path=$prefix${directory#./}
    if [ "$directory" = . ]; then
      path=${prefix%/}
    fi
    # A blueprint that is new has no users, and one without a change breaks none.
    git cat-file -e "$commit:${path:+$path/}blueprint.yaml" 2>/dev/null || continue
    # A directory may be named like a pattern of Git.
    git --literal-pathspecs diff --quiet "$commit" -- "$directory" && continue
    compared=$((compared + 1))
    code=0
    compare_one "$commit" "$path" "$directory" || code=$?
    if [ "$code" -ne 0 ] && [ "$worst" -eq 0 ]; then
      worst=$code
    fi
  done <"$scratch/found"
  if [ "$compared" -eq 0 ]; then
    echo "No blueprint has changed since $(git rev-parse --short "$commit")."
  fi
  return "$worst"
}

[ $# -gt 0 ] || fail "say what to check: validate, test or compare"
what=$1
shift
case $what in
validate) validate "$@" ;;
test) tests ;;
compare) compare "$@" ;;
*) fail "$what is not a check: validate, test or compare" ;;
esac
