# shellcheck shell=bash
# shellcheck disable=SC2154  # lower-case globals are set by run.sh
# Checks: each is a function that runs on its own and passes when it returns 0. Sourced.

checks_passed=0
checks_failed=0

# Runs the check in a subshell that ends at its first failing command. What it prints is only shown when it fails.
# Always returns 0: one failure must not hide the checks behind it.
check() { # title command...
  local title=$1 started=$EPOCHREALTIME status
  shift
  # No `if` and no `||` around the subshell: both would switch off errexit inside it.
  set +e
  (
    set -e
    "$@"
  ) >"$work/check.log" 2>&1
  status=$?
  set -e
  local tenths=$(((${EPOCHREALTIME/[.,]/} - ${started/[.,]/}) / 100000))
  if [ "$status" = 0 ]; then
    checks_passed=$((checks_passed + 1))
    printf 'ok      %s (%d.%d s)\n' "$title" $((tenths / 10)) $((tenths % 10))
  else
    checks_failed=$((checks_failed + 1))
    printf 'FAILED  %s\n' "$title"
    sed 's/^/        /' "$work/check.log"
  fi
}

# The closing line. Non-zero when something failed, and when nothing was checked at all.
report() {
  printf '%d passed, %d failed\n' "$checks_passed" "$checks_failed"
  [ "$checks_failed" = 0 ] && [ "$checks_passed" -gt 0 ]
}

fail() { printf '%s\n' "$*"; return 1; }

expect_equal() { # what wanted found
  [ "$2" = "$3" ] || fail "$1: wanted '$2', found '$3'"
}

expect_contains() { # text part...
  local text=$1 part
  shift
  for part in "$@"; do
    [[ $text == *"$part"* ]] || fail "wanted '$part' in: $text" || return 1
  done
}

expect_lacks() { # text part...
  local text=$1 part
  shift
  for part in "$@"; do
    [[ $text != *"$part"* ]] || fail "wanted no '$part' in: $text" || return 1
  done
}

# Asks again until the answer is the wanted one: what a controller does is true a moment later.
eventually() { # seconds what wanted command...
  local deadline=$((SECONDS + $1)) what=$2 wanted=$3 found
  shift 3
  while :; do
    found=$("$@" 2>&1) || true
    [ "$found" != "$wanted" ] || return 0
    [ "$SECONDS" -lt "$deadline" ] || fail "$what: wanted '$wanted' in time, found '$found'" || return 1
    sleep 0.1
  done
}
