# shellcheck shell=bash
# shellcheck disable=SC2154  # lower-case globals are set by run.sh
# Podium dies without a word in the middle of applies, and comes back.

check_outage() {
  check "outage: Podium is killed while pods are applied: errors are clear" killed_during_applies
  check "outage: nothing that was refused is stored, nothing undecided either" nothing_undecided_is_stored
  check "outage: kube-system and Podium's own namespace still work" own_namespace_works
  stop_process podium KILL # it is dead; this forgets it
  start_podium "$podium_port" "$operations_port"
  check "outage: applies work again" applies_recover
  check "outage: the audit log goes on, whole lines only" audit_goes_on
  check "outage: SIGTERM ends Podium within its drain time" sigterm_ends_podium
}

killed_during_applies() {
  local i said="" pid=${process_pid[podium]}
  for ((i = 0; i < 200; i++)); do
    if [ "$i" = 20 ]; then kill -s KILL "$pid"; fi
    said=$(create_pod research "during-$i" training 0) || break
  done
  echo "$said"
  [ "$i" -ge 20 ] || fail "an apply failed before the kill"
  [ "$i" -lt 25 ] || fail "applies went on after the kill, up to number $i"
  expect_contains "$said" 'failed calling webhook "mutate.podium.gpu"' "connection refused"
  echo "$i" >"$work/first-failed"
}

nothing_undecided_is_stored() {
  expect_equal "pods without our class" "" \
    "$(k -n research get pods -o json | jq -r '.items[] | select(.spec.priorityClassName != "training-queue-jumper") | .metadata.name')"
  expect_equal "pods of the loop" "$(cat "$work/first-failed")" "$(k -n research get pods -o name | grep -c during-)"
}

own_namespace_works() {
  create_pod podium-system podium-0 "" 0
  k -n podium-system delete pod podium-0 --grace-period=0
  create_pod kube-system daemon "" 0 '.spec.priorityClassName = "system-node-critical"'
  k -n kube-system delete pod daemon --grace-period=0
}

applies_recover() {
  local deadline=$((SECONDS + 10)) said
  until said=$(create_pod research after-the-outage training 0); do
    [ "$SECONDS" -lt "$deadline" ] || fail "$said" || return 1
  done
  expect_equal trio "training-queue-jumper 500000 Never" "$(trio research after-the-outage)"
}

audit_goes_on() {
  lines_are_whole
  expect_equal "processes in the log" 2 "$(audit true .instance | sort -u | wc -l)"
  # A pod is only stored after both endpoints wrote their lines: those survive the kill.
  local i
  for ((i = 0; i < $(cat "$work/first-failed"); i++)); do
    expect_equal "endpoints in the lines of during-$i" 2 "$(audit ".name == \"during-$i\" and .verdict == \"allow\"" .endpoint | sort -u | wc -l)"
  done
}

sigterm_ends_podium() {
  local pid=${process_pid[podium]}
  kill -s TERM "$pid"
  eventually 25 "process" gone process_state "$pid"
}

process_state() { if kill -0 "$1" 2>/dev/null; then echo alive; else echo gone; fi; }
