# shellcheck shell=bash
# shellcheck disable=SC2154  # lower-case globals are set by run.sh
# The whole story: batch fills eight GPUs, interactive arrives without any class, one batch pod makes room, training
# waits for its turn.

check_story() {
  check "story: nodes are empty" nodes_are_empty
  check "story: eight batch pods fill two nodes" batch_fills_the_nodes
  check "story: an interactive pod without a class gets one from Podium" interactive_arrives
  check "story: the scheduler nominates a node and preempts for it" scheduler_preempts
  check "story: the interactive pod runs" interactive_runs
  check "story: exactly one batch pod had to go, and was told why" exactly_one_victim
  check "story: a training pod waits, and nobody is evicted for it" training_waits
  check "story: it runs once a GPU is free" training_gets_its_turn
  check "story: cleared" clear_namespaces story
}

nodes_are_empty() {
  eventually 30 "pods on the nodes" 0 pods_on_nodes
}

pods_on_nodes() { k get pods -A -o json | jq '[.items[] | select(.spec.nodeName)] | length'; }

# Two seconds to exit: long enough to see the nomination.
batch_fills_the_nodes() {
  local i
  for i in 0 1 2 3 4 5 6 7; do
    pod_manifest story "embed-$i" batch 1 '.metadata.labels.app = "embed" | .metadata.annotations["test.podium.gpu/exit-time"] = "2s"'
  done | k create -f -
  eventually 30 "running batch pods" 8 pods_running story app=embed
  expect_equal trios "inference-batch 1000 PreemptLowerPriority" "$(trios story app=embed)"
  expect_equal "pods on each node" "4 gpu-a 4 gpu-b" \
    "$(k -n story get pods -o json | jq -r '.items[].spec.nodeName' | sort | uniq -c | xargs)"
}

interactive_arrives() {
  create_pod story chat interactive 1
  expect_equal trio "inference-interactive 1000000 PreemptLowerPriority" "$(trio story chat)"
}

nomination() { field story pod/chat '.status.nominatedNodeName // "" | sub("-[ab]$"; "")'; }

scheduler_preempts() {
  eventually 10 "nominated node" gpu nomination
  expect_equal "terminating pods" 1 "$(k -n story get pods -o json | jq '[.items[] | select(.metadata.deletionTimestamp)] | length')"
}

interactive_runs() { eventually 20 "running interactive pods" 1 pods_running story app=chat; }

preempted() { # -> the pods that the scheduler preempted
  k -n story get events --field-selector reason=Preempted -o json | jq -r '.items[].involvedObject.name' | sort -u
}

exactly_one_victim() {
  local victim
  eventually 10 "preempted pods" 1 count_preempted
  victim=$(preempted)
  expect_contains "$victim" embed-
  expect_equal "the victim" "" "$(k -n story get pod "$victim" --ignore-not-found -o name)"
  expect_equal "batch pods that still run" 7 "$(pods_running story app=embed)"
  expect_equal "who preempted" 1 "$(k -n story get events --field-selector reason=Preempted -o json |
    jq -r '.items[].note // .items[].message' | grep -c "Preempted by pod $(field story pod/chat .metadata.uid)")"
}

count_preempted() { preempted | grep -c . || true; }

why_pending() { # pod
  field story "pod/$1" '.status.conditions[]? | select(.type == "PodScheduled" and .status == "False") | .message'
}

training_waits() {
  create_pod story pretrain training 1
  expect_equal trio "training-queue-jumper 500000 Never" "$(trio story pretrain)"
  eventually 20 "Never in the scheduler's reason" yes scheduler_says_never
  expect_equal phase Pending "$(field story pod/pretrain .status.phase)"
  expect_equal "nominated node" null "$(field story pod/pretrain .status.nominatedNodeName)"
  expect_equal "preempted pods" 1 "$(count_preempted)"
  expect_equal "batch pods that still run" 7 "$(pods_running story app=embed)"
}

scheduler_says_never() {
  local reason
  reason=$(why_pending pretrain)
  [[ $reason != *"Insufficient nvidia.com/gpu"* || $reason != *preemptionPolicy=Never* ]] || echo yes
}

training_gets_its_turn() {
  local pod
  pod=$(k -n story get pods -l app=embed -o name | sed -n 1p) # head would end kubectl early, by SIGPIPE
  k -n story delete "$pod" --wait=false
  eventually 30 "running training pods" 1 pods_running story app=pretrain
}
