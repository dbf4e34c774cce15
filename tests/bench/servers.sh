# Sourced by bench_http.sh and bench_rss.sh: where things are, and the servers under test.
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root/tests/bench
build=${PODIUM_BUILD:-$root/build/release}
podium=$build/podium
[ -x "$podium" ] || podium=$build/webhook/podium
# shellcheck disable=SC2034  # of bench_http.sh
engine_constant=$build/tests/bench_engine_constant
bodies=("$here"/bodies/pod-*.json)
work=$(mktemp -d)
servers=()

finish() {
  for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

die() { echo "bench: $*" >&2; exit 1; }

require() { # what the benchmark needs; says all that is missing at once
  local missing=()
  for tool in "$@"; do PATH=$PATH:/usr/sbin command -v "$tool" >/dev/null || missing+=("$tool"); done
  [ ${#missing[@]} -eq 0 ] || die "missing: ${missing[*]} (Debian: apt-get install nginx-light wrk curl openssl util-linux)"
}

# Server and load generator share the cores. BENCH_LAYOUT says how:
#   shared   nobody is pinned; a server has one worker for each core, and so has the load generator. Every core is always busy,
#            so the figures are what one more request costs the machine.
#   pinned   the server has one worker on the first core, the load generator the second. A server slower than the
#            generator lets it fall asleep and pays for waking it with every answer (a fifth of its time in one profile), which a
#            faster one does not: read the CPU column with that in mind.
layout=${BENCH_LAYOUT:-shared}
case $layout in
  shared) workers=$(nproc) on_server_core=() on_client_core=() ;;
  pinned) workers=1 on_server_core=(taskset -c 0) on_client_core=(taskset -c 1) ;;
  *) die "BENCH_LAYOUT: '$layout' is not known; allowed: shared, pinned" ;;
esac

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

wait_for_port() { # port pid: until it accepts; a server that ends is an error
  for _ in $(seq 200); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
    kill -0 "$2" 2>/dev/null || die "a server ended before it listened; its message is above"
    sleep 0.05
  done
  die "nothing listens on port $1 after 10 s"
}

start_podium() { # sets podium_pid, podium_port
  local operations
  [ -x "$podium" ] || die "$podium is not built: ./dev build"
  podium_port=$(free_port)
  operations=$(free_port)
  "${on_server_core[@]}" "$podium" serve --policy "$root/policies/default.yaml" --listen "127.0.0.1:$podium_port" \
    --operations-listen "127.0.0.1:$operations" --cert-file "$work/certs/tls.crt" --key-file "$work/certs/tls.key" \
    --audit-log "$work/audit.jsonl" --audit-mode strict --threads "$workers" >"$work/podium.log" 2>&1 &
  podium_pid=$!
  servers+=("$podium_pid")
  wait_for_port "$podium_port" "$podium_pid" || { cat "$work/podium.log" >&2; exit 1; }
}

review() { # port body: the answer's body
  curl -sS --cacert "$work/certs/ca.crt" -H 'Content-Type: application/json' --data-binary "@$2" \
    "https://127.0.0.1:$1/mutate?timeout=10s"
}

check_injection() { # the bodies must be ones that get a class, or the "full decision" is none
  for body in "${bodies[@]}"; do
    local answer
    answer=$(review "$podium_port" "$body")
    [[ $answer == *'"patch":'* ]] || die "podium does not inject into $body: $answer"
  done
}

load() { # port connections seconds: "requests microseconds p50 p99 failed"
  "${on_client_core[@]}" wrk -t"$workers" -c"$2" -d"$3"s --latency -s "$here/reviews.lua" "https://127.0.0.1:$1" -- "${bodies[@]}" |
    sed -n 's/^RESULT //p'
}
