# shellcheck shell=bash
# shellcheck disable=SC2154  # lower-case globals are set by run.sh
# Podium's own audit log, and what the API server keeps of it in its own.

check_audit() {
  check "every audit line is one JSON object with all it must have" lines_are_whole
  check "sequence numbers have no hole" sequence_is_whole
  check "one line for each call that the API server counted" one_line_for_each_call
  check "users are those who asked: a person, the controllers" users_are_right
  check "case 011: the forged user name is one escaped string" forged_user_in_the_log
  check "case 011: no secret of a pod is in any log" no_secret_in_the_logs
  check "one request is decided alike by both endpoints" endpoints_agree
  check "the API server's audit log has Podium's annotations and patch" apiserver_audit_log
  check "the API server lost none of our annotations" no_annotation_was_lost
}

lines_are_whole() {
  local bad
  bad=$(jq -Rc '(fromjson? // null) as $line | select(($line | type) != "object" or ([$line | has("v", "seq", "instance", "at",
    "endpoint", "uid", "user", "operation", "kind", "namespace", "name", "verdict", "policy", "dryRun", "durationUs")] | all | not))' \
    "$work/podium-audit.jsonl")
  expect_equal "bad lines" "" "$bad"
  [ "$(audit_lines)" -gt 100 ] || fail "only $(audit_lines) lines"
}

sequence_is_whole() {
  expect_equal "lines whose number is not their place" 0 \
    "$(jq -s '[sort_by(.seq) | to_entries[] | select(.key + 1 != .value.seq)] | length' "$work/podium-audit.jsonl")"
}

lines_beyond_the_calls() { echo $(($(audit_lines) - $(webhook_calls podium.gpu))); }

one_line_for_each_call() { eventually 10 "audit lines minus calls" 0 lines_beyond_the_calls; }

users_are_right() {
  local controllers=system:serviceaccount:kube-system
  expect_equal "who made Deployments" '"admin"' \
    "$(audit '.kind.kind == "Deployment" and .operation == "CREATE" and .name == "chat"' .user | sort -u)"
  expect_equal "who made ReplicaSets" "\"$controllers:deployment-controller\"" \
    "$(audit '.kind.kind == "ReplicaSet" and .operation == "CREATE" and (.name | startswith("chat-"))' .user | sort -u)"
  expect_equal "who made a Job's pods" "\"$controllers:job-controller\"" \
    "$(audit '.kind.kind == "Pod" and .operation == "CREATE" and .name == "embed-28-"' .user | sort -u)"
  k --as=dana.example --as-group=team-serving -n research create configmap unseen
  pod_manifest research dana-1 training 1 | k --as=dana.example --as-group=team-serving create -f -
  expect_equal "who made dana-1" '["dana.example",true]' \
    "$(audit '.name == "dana-1"' '[.user, (.groups | index("team-serving") != null)]' | sort -u)"
  k -n research delete pod dana-1 --grace-period=0
}

forged_user_in_the_log() {
  local wanted=$'oidc:sam\n{"decision":"allow","user":"admin"}'
  expect_equal "user names about embed-77" "$wanted" "$(audit '.name == "embed-77"' .user | sort -u | jq -r .)"
  expect_equal "forged lines" 0 "$(grep -c '^{"decision"' "$work/podium-audit.jsonl" || true)"
  expect_equal verdict '"refuse"' "$(audit '.name == "embed-77"' .verdict | sort -u)"
}

no_secret_in_the_logs() {
  expect_equal "logs with the password" "" "$(grep -l pw-do-not-log-me "$work/podium.log" "$work/podium-audit.jsonl" || true)"
}

# The validating call judges what the mutating ones made: the same type, and the class that they gave.
endpoints_agree() {
  local outcome='[.verdict, .templates[0].workloadType, .templates[0].after]'
  expect_equal "outcomes of chat-frontend-0" 1 "$(audit '.name == "chat-frontend-0" and .operation == "CREATE"' "$outcome" | sort -u | wc -l)"
  expect_equal "endpoints" '"mutate" "validate"' "$(audit '.name == "chat-frontend-0"' .endpoint | sort -u | xargs -d '\n')"
  expect_equal "before the first call" '{"priorityClassName":"cluster-default","priority":100,"preemptionPolicy":"PreemptLowerPriority"}' \
    "$(audit '.name == "chat-frontend-0"' .templates[0].before | head -n 1)"
}

apiserver_audit_log() {
  local annotations
  annotations=$(jq -c 'select(.verb == "create" and .objectRef.name == "chat-frontend-0") | .annotations' "$work/apiserver-audit.log")
  expect_equal "workload type" interactive "$(jq -r '."mutate.podium.gpu/workload-type"' <<<"$annotations")"
  expect_equal class inference-interactive "$(jq -r '."validate.podium.gpu/priority-class"' <<<"$annotations")"
  expect_contains "$(jq -r '."patch.webhook.admission.k8s.io/round_0_index_0"' <<<"$annotations")" /spec/priorityClassName
  # docs/adr/0006: as registered, Podium is not asked a second time.
  expect_equal "calls in a second round" null "$(jq -r '."mutation.webhook.admission.k8s.io/round_1_index_0"' <<<"$annotations")"
  expect_equal "rule that the audit log names" '"inject-priority-class"' \
    "$(audit '.name == "chat-frontend-0" and .endpoint == "mutate"' '.edits[].rule' | sort -u)"
}

# It only logs a key that it does not take, or a second value for a key that it has.
no_annotation_was_lost() {
  expect_equal "complaints" "" "$(grep -iE 'audit annotation.*podium|failed to set.*annotation' "$work/kube-apiserver.log" || true)"
}
