#!/usr/bin/env bash
# What a webhook costs the API server: eight clients create pods (a) without a webhook, (b) with one of a few lines of Go
# that does nothing, (c) with Podium, injection and audit on. (b) and (c) are each registered as mutating and validating.
# The three take turns within one run, and every round starts with another one: the machine's mood hits all alike.
#   PODIUM=BINARY   default: the release build      ROUNDS=5   PODS=3000 for each turn
#   REINVOCATION=IfNeeded   instead of Never. IfNeeded costs a third call for each pod whose class Podium changed: it takes
#   the number away, the Priority step fills it in again, and a changed object is sent once more (docs/adr/0006).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
# shellcheck disable=SC2034  # read by the libraries
e2e=$root/tests/e2e
podium=${PODIUM:-$root/build/release/podium}
rounds=${ROUNDS:-5}
pods=${PODS:-3000}
target=0.9

# shellcheck source=tests/e2e/controlplane/controlplane.sh
. "$e2e/controlplane/controlplane.sh"
# shellcheck source=tests/e2e/lib/report.sh
. "$e2e/lib/report.sh"
# shellcheck source=tests/e2e/lib/cluster.sh
. "$e2e/lib/cluster.sh"
# shellcheck source=tests/e2e/lib/podium.sh
. "$e2e/lib/podium.sh"

turns=(none donothing.test podium.gpu) # names of the webhook configurations; none: no webhook
declare -A webhook_process=([donothing.test]=donothing [podium.gpu]=podium) webhook_url=()

clean_up() {
  stop_all_processes TERM
  rm -rf "$work"
}

build_go_programs() {
  command -v go >/dev/null || { echo "bench: the do-nothing webhook and the clients are Go programs: install Go 1.26 or newer" >&2; exit 1; }
  (cd "$here" && CGO_ENABLED=0 go build -trimpath -o "$work/bin/" ./donothing ./createpods)
}

accepts_tls() { curl -sk -o /dev/null --max-time 2 "https://127.0.0.1:$1/"; }

start_webhooks() {
  "$root/certs/dev-certs.sh" "$work/certs"
  pick_port; local port=$free_port
  start_process donothing "$work/donothing.log" "$work/bin/donothing" -listen "127.0.0.1:$port" \
    -cert-file "$work/certs/tls.crt" -key-file "$work/certs/tls.key"
  wait_until_ready donothing "$work/donothing.log" 10 accepts_tls "$port"
  webhook_url[donothing.test]=https://127.0.0.1:$port
  pick_port; port=$free_port
  pick_port
  start_podium "$port" "$free_port"
  webhook_url[podium.gpu]=https://127.0.0.1:$port
}

createpods() { # options...
  "$work/bin/createpods" -server "https://127.0.0.1:$apiserver_port" -ca "$work/pki/ca.crt" \
    -cert "$work/pki/admin.crt" -key "$work/pki/admin.key" -namespace bench "$@"
}

cpu_ms() { # process name -> milliseconds of CPU it has used
  awk -v hz="$(getconf CLK_TCK)" '{ print int(($14 + $15) * 1000 / hz) }' "/proc/${process_pid[$1]}/stat"
}

# The API server's own clock: "calls seconds" of a configuration's webhook, over all operations.
webhook_duration() { # webhook name
  apiserver_metrics | awk -v name="name=\"$1\"" '
    index($0, "apiserver_admission_webhook_admission_duration_seconds_") != 1 || !index($0, name) { next }
    /_count{/ { calls += $NF }
    /_sum{/ { seconds += $NF }
    END { printf "%d %.6f\n", calls, seconds }'
}

mean_ms() { # "calls seconds" before, after
  awk -v before="$1" -v after="$2" 'BEGIN {
    split(before, b); split(after, a)
    calls = a[1] - b[1]; print (calls ? (a[2] - b[2]) * 1000 / calls : 0) }'
}

switch_to() { # turn
  local other
  for other in "${turns[@]}"; do
    if [ "$other" != none ] && [ "$other" != "$1" ]; then remove_webhook "$other"; fi
  done
  if [ "$1" != none ]; then register_webhook "$1" "${webhook_url[$1]}" "$work/certs/ca.crt"; fi
}

take_turn() { # turn pods -> one JSON line
  local turn=$1 process=${webhook_process[$1]:-} before=(0 0 0 "" "") after=(0 0 0 "" "") result
  switch_to "$turn"
  before=("$(cpu_ms kube-apiserver)" "$([ -z "$process" ] || cpu_ms "$process")" "$(webhook_calls "$turn")"
    "$(webhook_duration "mutate.$turn")" "$(webhook_duration "validate.$turn")")
  result=$(createpods -pods "$2")
  after=("$(cpu_ms kube-apiserver)" "$([ -z "$process" ] || cpu_ms "$process")" "$(webhook_calls "$turn")"
    "$(webhook_duration "mutate.$turn")" "$(webhook_duration "validate.$turn")")
  createpods -delete
  jq -c --arg turn "$turn" \
    --argjson apiserver_ms $((after[0] - before[0])) --argjson webhook_ms $((${after[1]:-0} - ${before[1]:-0})) \
    --argjson calls $((after[2] - before[2])) --argjson mutate_ms "$(mean_ms "${before[3]}" "${after[3]}")" \
    --argjson validate_ms "$(mean_ms "${before[4]}" "${after[4]}")" \
    '{$turn, $apiserver_ms, $webhook_ms, $calls, $mutate_ms, $validate_ms} + .' <<<"$result"
}

# Podium must really have worked in its turns: every pod carries the class.
expect_injection() {
  createpods -pods 20 >/dev/null
  expect_equal "classes of the pods" "inference-batch 1000 PreemptLowerPriority" "$(trios bench app=embed)"
  createpods -delete
}

run_rounds() {
  local round i turn
  for turn in "${turns[@]}"; do
    printf 'warming up: %s\n' "$turn" >&2
    take_turn "$turn" $((pods / 3)) >/dev/null
  done
  expect_injection
  for ((round = 0; round < rounds; round++)); do
    for ((i = 0; i < ${#turns[@]}; i++)); do
      turn=${turns[(round + i) % ${#turns[@]}]}
      take_turn "$turn" "$pods" | tee -a "$work/results.jsonl" |
        jq -r --arg round "$((round + 1))/$rounds" '"round \($round)  \(.turn): \(.pods_per_second | round) pods/s"' >&2
    done
  done
}

print_table() {
  jq -rs --argjson target "$target" '
    def median: sort | .[length / 2 | floor];
    def fixed(digits): . * pow(10; digits) | round / pow(10; digits) | tostring;
    def column(width): tostring | . + (" " * ([0, width - length] | max));
    def row: [.[0], (.[1:][] )] | (.[0] | column(16)) + (.[1:] | map(column(13)) | add);
    def of(turn): map(select(.turn == turn));
    def summary: {
      rate: map(.pods_per_second) | median, low: map(.pods_per_second) | min, high: map(.pods_per_second) | max,
      p50: map(.p50_ms) | median, p99: map(.p99_ms) | median,
      cpu: map(.webhook_ms * 1000 / .pods) | median, apiserver: map(.apiserver_ms * 1000 / .pods) | median,
      calls: map(.calls / .pods) | median, mutate: map(.mutate_ms) | median, validate: map(.validate_ms) | median};
    def line(title): summary | [title, (.rate | round), "\(.low | round)-\(.high | round)", (.p50 | fixed(1)), (.p99 | fixed(1)),
      (.calls | fixed(2)), (.cpu | round), (.apiserver | round), (.mutate | fixed(2)), (.validate | fixed(2))] | row;
    (["", "pods/s", "range", "p50 ms", "p99 ms", "calls/pod", "webhook us", "apiserver us", "mutating ms", "validating ms"] | row),
    (of("none") | line("no webhook")), (of("donothing.test") | line("do-nothing (Go)")), (of("podium.gpu") | line("Podium")),
    "",
    "medians; webhook us, apiserver us: CPU time for each pod; mutating ms, validating ms: the API server'"'"'s own",
    "apiserver_admission_webhook_admission_duration_seconds, mean of a call",
    ((of("podium.gpu") | summary.rate) / (of("donothing.test") | summary.rate) |
      "Podium / do-nothing: \(fixed(3)) (target \($target): \(if . >= $target then "met" else "MISSED" end))")
  ' "$work/results.jsonl"
}

main() {
  [ -x "$podium" ] || { echo "bench: no podium at $podium; build it (./dev build) or set PODIUM" >&2; exit 1; }
  binaries=$("$e2e/controlplane/build.sh")
  work=$(mktemp -d "${TMPDIR:-/tmp}/podium-bench.XXXXXX")
  trap clean_up EXIT
  trap 'exit 130' INT TERM
  export KUBECACHEDIR=$work/kubectl-cache
  build_go_programs
  controlplane_up "$binaries" "$work"
  install_chart >/dev/null
  k create namespace bench >/dev/null
  start_webhooks
  run_rounds
  printf '\n%s pods a turn, %s turns each, 8 clients, %s cores, reinvocationPolicy %s\n\n' "$pods" "$rounds" "$(nproc)" \
    "${REINVOCATION:-Never}"
  print_table
}

main "$@"
