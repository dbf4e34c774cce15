# shellcheck shell=bash
# shellcheck disable=SC2154  # lower-case globals are set by run.sh
# Advice at admission, and whether it was right: four nodes of one GPU beside the two of four. Goes on with the replicas
# of the live steps.

check_advice() {
  clear_namespaces serving nlp-batch research
  check "advice: four nodes of one GPU are there" small_nodes_are_there
  check "advice: two GPUs on one-GPU nodes are told that they will not fit, and are let in" two_gpus_are_told
  check "advice: the scheduler says so too, in the words of the audit log's verdict" scheduler_agrees_on_the_refusal
  check "advice: what fits now is not told of" a_fit_is_silent
  check "advice: a preemptor is told whom it evicts, for a Deployment too" a_preemptor_is_told
  check "advice: after real scheduling every verdict was right" verdicts_were_right
  enforce_advice
  check "advice: enforce refuses what no eviction helps, with the arithmetic" enforce_refuses
  check "advice: enforce lets in what fits" enforce_lets_in_what_fits
  clear_namespaces serving nlp-batch research
  k delete nodes -l pool=small --wait=false >/dev/null
}

small_nodes_are_there() {
  local i
  for i in 1 2 3 4; do
    jq -n --arg name "small-$i" '{apiVersion: "v1", kind: "Node", metadata: {name: $name, labels: {"kubernetes.io/hostname": $name, pool: "small"}},
      status: {allocatable: {cpu: "16", memory: "64Gi", pods: "110", "nvidia.com/gpu": "1"}, capacity: {cpu: "16", memory: "64Gi", pods: "110", "nvidia.com/gpu": "1"}}}'
  done | k create -f -
  k wait --for=condition=Ready --timeout=30s nodes -l pool=small
  eventually 30 "taints of the small nodes" 0 small_taints
  eventually 10 "nodes that Podium knows" 6 metric "$live_operations" 'podium_watch_objects{resource="nodes"}'
}

small_taints() { k get nodes -l pool=small -o json | jq '[.items[].spec.taints // [] | length] | add'; }

# A pod for the small nodes.
small_pod() { # name workload-type gpus
  pod_manifest serving "$1" "$2" "$3" '.spec.nodeSelector = {pool: "small"}'
}

two_gpus_are_told() {
  expect_contains "$(small_pod two-gpus interactive 2 | k apply -f - 2>&1)" \
    "Warning: podium: will not fit: 2 nvidia.com/gpu wanted on one node, at most 1 can be freed on any of 4" \
    "pod/two-gpus created"
}

why_unschedulable() { # pod
  field serving "pod/$1" '.status.conditions[]? | select(.type == "PodScheduled" and .status == "False") | .message'
}

scheduler_agrees_on_the_refusal() {
  eventually 20 "the scheduler's turn" yes has_a_reason two-gpus
  expect_contains "$(why_unschedulable two-gpus)" "4 Insufficient nvidia.com/gpu" "preemption: "
  expect_equal "verdict in the audit log" '"PreemptionCannotHelp"' \
    "$(jq -c 'select(.endpoint == "validate" and .name == "two-gpus") | .templates[0].advice.verdict' "$work/podium-1-audit.jsonl")"
  expect_equal "verdict in the API server's audit log" PreemptionCannotHelp "$(jq -r 'select(.verb == "create" and .objectRef.name == "two-gpus")
    | .annotations | to_entries[] | select(.key | endswith("/feasibility")) | .value' "$work/apiserver-audit.log" | sort -u)"
}

has_a_reason() { [ -z "$(why_unschedulable "$1")" ] || echo yes; }

a_fit_is_silent() {
  local said
  said=$(small_pod fits interactive 1 | k apply -f - 2>&1)
  expect_equal "what kubectl says" "pod/fits created" "$said"
  eventually 20 "pods that run" 1 pods_running serving app=fits
}

# Three batch pods take the rest. One pod after the other: of two at once, both are told of the same free GPU.
a_preemptor_is_told() {
  local i
  for i in 1 2 3; do
    pod_manifest nlp-batch "embed-$i" batch 1 '.spec.nodeSelector = {pool: "small"} | .metadata.labels.app = "embed"' | k create -f -
    eventually 20 "batch pods that run" "$i" pods_running nlp-batch app=embed
  done
  eventually 10 "Podium knows that they are full" yes evictions_are_foreseen
  expect_contains "$(small_pod preemptor interactive 1 | k create -f - 2>&1)" \
    "Warning: podium: fits after evicting 1 pod on small-" ", up to 30 s"
  eventually 30 "pods that run" 1 pods_running serving app=preemptor
  expect_contains "$(deployment_manifest serving voice interactive 3 1 | jq '.spec.template.spec.nodeSelector = {pool: "small"}' | k create -f - 2>&1)" \
    "Warning: podium: the first of 3 pods fits after evicting 1 pod on small-"
  k -n serving delete deployment voice
}

# A picture may be a moment old.
evictions_are_foreseen() {
  small_pod probe interactive 1 | k create --dry-run=server -f - 2>&1 | grep -q "fits after evicting" && echo yes
}

accuracy() { # jq-expression
  "$podium" accuracy --url "http://127.0.0.1:$live_operations" -o json | jq -c "$1"
}

agreed_on() { # predicted
  accuracy "[.items[] | select(.predicted == \"$1\") | .agreed] | add // 0 | if . > 0 then \"yes\" else \"no\" end"
}

verdicts_were_right() {
  local verdict
  for verdict in FitsNow FitsAfterPreemption PreemptionCannotHelp; do
    eventually 20 "$verdict agreed" '"yes"' agreed_on "$verdict"
  done
  "$podium" accuracy --url "http://127.0.0.1:$live_operations"
  expect_equal "disagreements" 0 "$(accuracy .disagreed)"
  expect_equal "lines about disagreements" 0 "$(grep -c "disagreement: " "$work/podium-1.log" || true)"
}

enforce_advice() {
  stop_process podium-1
  awk '{print} /^    - name: interactive$/ {print "      advice: enforce"}' "$work/live-policy.yaml" >"$work/enforcing-policy.yaml"
  mv "$work/enforcing-policy.yaml" "$work/live-policy.yaml"
  start_replica podium-1 "$live_port" "$live_operations"
  wait_until_ready podium-1 "$work/podium-1.log" 20 curl -sf "http://127.0.0.1:$live_operations/readyz"
  eventually 20 "both webhooks are called" yes are_both_called podium.gpu
}

enforce_refuses() {
  k -n serving delete pod two-gpus --grace-period=0 --force
  expect_refused "[feasibility] spec: will not fit: 2 nvidia.com/gpu wanted on one node, at most 1 can be freed on any of 4" \
    "podium feasibility -f" "advice: enforce" -- k create -f <(small_pod two-gpus interactive 2)
}

enforce_lets_in_what_fits() {
  clear_namespaces serving
  expect_equal "what kubectl says" "pod/fits created" "$(small_pod fits interactive 1 | k create -f - 2>&1)"
}
