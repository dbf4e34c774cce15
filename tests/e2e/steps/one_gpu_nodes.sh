# shellcheck shell=bash
# shellcheck disable=SC2154  # lower-case globals are set by run.sh
# Four one-GPU nodes, a preemptible pod on each, and an interactive pod that wants two GPUs: four GPUs could be freed,
# but no eviction puts two of them on one node. The scheduler's event and Podium's answer, side by side.

check_one_gpu_nodes() {
  check "one-GPU nodes: four nodes, a batch pod on each" fill_one_gpu_nodes
  check "one-GPU nodes: Podium and the scheduler refuse two GPUs in the same words" two_gpus_are_refused
  show_answers
  check "one-GPU nodes: nobody had to go, and one GPU preempts as Podium says" one_gpu_preempts
  check "one-GPU nodes: the nodes of the other checks are back" restore_nodes
}

# The other nodes have four GPUs each: they go while this story lasts.
fill_one_gpu_nodes() {
  local i
  k delete node gpu-a gpu-b
  for i in 0 1 2 3; do
    jq -n --arg name "gpu-s$i" '{cpu: "32", memory: "256Gi", pods: "110", "nvidia.com/gpu": "1"} as $resources
      | {apiVersion: "v1", kind: "Node", metadata: {name: $name, labels: {"kubernetes.io/hostname": $name}},
         status: {allocatable: $resources, capacity: $resources}}' | k create -f -
  done
  nodes_take_pods
  for i in 0 1 2 3; do
    pod_manifest story "embed-$i" batch 1 '.metadata.labels.app = "embed"'
  done | k create -f -
  eventually 30 "running batch pods" 4 pods_running story app=embed
}

nodes_take_pods() {
  k wait --for=condition=Ready --timeout=30s nodes --all
  eventually 30 "taints of the nodes" "" field "" nodes '.items[].spec.taints // empty'
}

feasibility() { # manifest options... -> Podium's answer; 4 (it does not fit) is an answer as well
  local file=$1 status=0
  shift
  "$podium" feasibility -f "$file" --kubeconfig "$KUBECONFIG" --policy "$root/policies/default.yaml" "$@" || status=$?
  case $status in 0 | 4) ;; *) fail "podium feasibility: exit code $status" ;; esac
}

failed_scheduling() { # pod
  k -n story get events --field-selector "reason=FailedScheduling,involvedObject.name=$1" -o json |
    jq -r '.items[0].message // ""'
}

two_gpus_are_refused() {
  pod_manifest story pair interactive 2 >"$work/pair.json"
  feasibility "$work/pair.json" -o json >"$work/pair-report.json"
  feasibility "$work/pair.json" >"$work/pair-report.txt"
  k create -f "$work/pair.json"
  eventually 20 "the scheduler's reason" "$(jq -r .message "$work/pair-report.json")" failed_scheduling pair
  failed_scheduling pair >"$work/pair-event.txt"
  expect_equal verdict ShapeNeverFits "$(jq -r .verdict "$work/pair-report.json")"
  expect_equal "wanted, most on one node" "2 1" \
    "$(jq -r '.room | "\(.wanted) \(.mostOnOneNode)"' "$work/pair-report.json")"
}

show_answers() {
  [ -s "$work/pair-event.txt" ] || return 0
  printf '        kube-scheduler: %s\n' "$(cat "$work/pair-event.txt")"
  printf '        Podium:         %s\n' "$(jq -r .message "$work/pair-report.json")"
  sed 's/^/          | /' "$work/pair-report.txt"
}

one_gpu_preempts() {
  local report
  expect_equal "running batch pods" 4 "$(pods_running story app=embed)"
  pod_manifest story small interactive 1 >"$work/small.json"
  report=$(feasibility "$work/small.json" -o json)
  expect_equal verdict FitsAfterPreemption "$(jq -r .verdict <<<"$report")"
  k create -f "$work/small.json"
  eventually 20 "running interactive pods" 1 pods_running story app=small
  eventually 10 "running batch pods" 3 pods_running story app=embed
  expect_contains " $(jq -r '.chosen | join(" ")' <<<"$report") " " $(field story pod/small .spec.nodeName) "
}

restore_nodes() {
  clear_namespaces story
  k delete node gpu-s0 gpu-s1 gpu-s2 gpu-s3
  k apply -f "$(manifest cluster.yaml)"
  nodes_take_pods
}
