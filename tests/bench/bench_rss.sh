#!/usr/bin/env bash
# Resident memory of `podium serve` after 50,000 and 100,000 reviews over 32 TLS connections: below 30 MiB, no growth.
# Usage: tests/bench/bench_rss.sh      exit code 1 when a target is missed
# shellcheck source=tests/bench/servers.sh
source "$(dirname "$0")/servers.sh"

rss_kib() { awk '/^VmRSS:/ {print $2}' "/proc/$podium_pid/status"; }
served() { wc -l <"$work/audit.jsonl"; }

serve_until() { # number of reviews in all
  while [ "$(served)" -lt "$1" ]; do load "$podium_port" 32 1 >/dev/null; done
}

require wrk curl openssl python3
"$root/certs/dev-certs.sh" "$work/certs"
start_podium
check_injection
idle=$(rss_kib)
serve_until 50000
first=$(rss_kib) first_served=$(served)
serve_until $((first_served + 50000))
second=$(rss_kib) second_served=$(served)
printf 'bench rss: %d KiB after start, %d KiB after %d reviews, %d KiB after %d reviews\n' \
  "$idle" "$first" "$first_served" "$second" "$second_served"
[ "$second" -lt 30720 ] || die "more than 30 MiB"
[ $((second - first)) -le 512 ] || die "grew by $((second - first)) KiB over the last 50,000 reviews"
