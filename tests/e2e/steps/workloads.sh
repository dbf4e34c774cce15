# shellcheck shell=bash
# shellcheck disable=SC2154  # lower-case globals are set by run.sh
# Workloads: the class on the pod template, and controllers that really make the pods from it.

check_workloads() {
  check "case 012: a number in a template gives way to the class" number_in_template
  check "case 012: the ReplicaSet gets its pods, with class and number" replicaset_gets_its_pods
  check "a number that contradicts its class is refused on the Deployment" contradiction_is_refused
  check "case 013: a class that does not exist is refused on the Deployment" unknown_class_is_refused
  check "case 014: a CronJob's two-GPU template is refused, the other gets the class" cronjob_templates
  check "case 014: a Job made from the CronJob runs in its class" job_from_cronjob
  check "workloads: cleared" clear_namespaces serving nlp-batch
  check "case 015: a RayJob's worker group is refused by its path" rayjob_is_refused
  check "case 015: with one GPU it is stored as written" rayjob_with_one_gpu
  check "a two-GPU batch Job is refused" two_gpu_batch_job
  check "case 020: a Deployment with one replica gets class and pod" one_replica
  check "a label on the Deployment alone reaches its pods" label_is_copied
  check "one of each kind: templates have the class" one_of_each_kind
  check "one of each kind: their pods run in it" one_of_each_kind_runs
  check "case 006: pods with a generated name are judged in their namespace" generated_names
  check "case 027: a system daemon keeps its class" system_daemon
  check "workloads: cleared again" clear_namespaces serving nlp-batch
}

template_class() { field "$1" "$2" .spec.template.spec.priorityClassName; }

number_in_template() {
  apply "$(manifest 012-number-instead-of-class-in-template.yaml)"
  expect_equal class inference-interactive "$(template_class serving deployment/chat-frontend)"
  expect_equal number null "$(field serving deployment/chat-frontend .spec.template.spec.priority)"
}

replicaset_gets_its_pods() {
  eventually 20 "running pods" 3 pods_running serving app=chat-frontend
  expect_equal trios "inference-interactive 1000000 PreemptLowerPriority" "$(trios serving app=chat-frontend)"
}

contradiction_is_refused() {
  expect_refused '[inconsistent-priority]' spec.template.spec.priority inference-interactive 1000000 -- \
    apply "$(manifest number-against-its-class.yaml)"
}

unknown_class_is_refused() {
  k -n serving delete deployment chat-frontend
  expect_refused '[unknown-priority-class]' "'inference-realtime'" -- apply "$(manifest 013-class-that-does-not-exist.yaml)"
  expect_equal stored "" "$(k -n serving get deployment chat-frontend --ignore-not-found -o name)"
}

cronjob_templates() {
  expect_refused '(Forbidden)' '[multi-gpu-preemptible] spec.jobTemplate.spec.template.spec: pod asks for 2 nvidia.com/gpu' -- \
    apply "$(manifest 014-cronjob-nested-template.yaml)"
  expect_equal stored cronjob.batch/nightly-eval-one "$(k -n nlp-batch get cronjobs -o name)"
  expect_equal class inference-batch \
    "$(field nlp-batch cronjob/nightly-eval-one .spec.jobTemplate.spec.template.spec.priorityClassName)"
}

job_from_cronjob() {
  k -n nlp-batch create job by-hand --from=cronjob/nightly-eval-one
  expect_equal class inference-batch "$(template_class nlp-batch job/by-hand)"
  eventually 20 "running pods" 1 pods_running nlp-batch job-name=by-hand
  expect_equal trios "inference-batch 1000 PreemptLowerPriority" "$(trios nlp-batch job-name=by-hand)"
}

rayjob_is_refused() {
  expect_refused '[multi-gpu-preemptible]' 'spec.rayClusterSpec.workerGroupSpecs[0]' -- apply "$(manifest 015-rayjob-with-plain-numbers.yaml)"
}

rayjob_with_one_gpu() {
  sed 's|nvidia.com/gpu: 2|nvidia.com/gpu: 1|' "$(manifest 015-rayjob-with-plain-numbers.yaml)" >"$work/rayjob.yaml"
  apply "$work/rayjob.yaml"
  expect_equal "class in the worker's template" null \
    "$(field nlp-batch rayjob/embed-corpus '.spec.rayClusterSpec.workerGroupSpecs[0].template.spec.priorityClassName')"
}

two_gpu_batch_job() {
  expect_refused '(Forbidden)' '[multi-gpu-preemptible] spec.template.spec: pod asks for 2 nvidia.com/gpu (containers: main 2)' \
    "class 'inference-batch' is preemptible and may hold at most 1 device" -- apply "$(manifest two-gpu-batch-job.yaml)"
  expect_equal stored "" "$(k -n nlp-batch get job embed-wide --ignore-not-found -o name)"
}

one_replica() {
  apply "$(manifest 020-budget-for-one-replica.yaml)"
  expect_equal class inference-interactive "$(template_class serving deployment/admin-chat)"
  eventually 20 "running pods" 1 pods_running serving app=admin-chat
}

label_is_copied() {
  apply "$(manifest label-on-the-deployment-only.yaml)"
  expect_equal class inference-interactive "$(template_class serving deployment/summarizer)"
  eventually 20 "running pods" 1 pods_running serving app=summarizer,podium.gpu/workload-type=interactive
  expect_equal trios "inference-interactive 1000000 PreemptLowerPriority" "$(trios serving app=summarizer)"
}

one_of_each_kind() {
  local workload
  apply "$(manifest workloads.yaml)"
  for workload in statefulset/vector-store daemonset/cache replicaset/rerank replicationcontroller/old-style; do
    expect_equal "class of $workload" inference-interactive "$(template_class serving "$workload")"
  done
  expect_equal "class of job/embed-28" inference-batch "$(template_class nlp-batch job/embed-28)"
}

one_of_each_kind_runs() {
  local app
  for app in vector-store cache rerank old-style; do
    eventually 20 "running pods of $app" 2 pods_running serving "app=$app"
    expect_equal "trios of $app" "inference-interactive 1000000 PreemptLowerPriority" "$(trios serving "app=$app")"
  done
  expect_equal "trios of embed-28" "inference-batch 1000 PreemptLowerPriority" "$(trios nlp-batch app=embed-28)"
  eventually 20 "completed runs of embed-28" 1 field nlp-batch job/embed-28 .status.succeeded
}

generated_names() {
  expect_equal "namespaces of the calls" '["nlp-batch",true]' \
    "$(audit '.name == "embed-28-" and .kind.kind == "Pod"' '[.namespace, .generated]' | sort -u)"
}

system_daemon() {
  apply "$(manifest 027-system-daemon-keeps-its-class.yaml)"
  expect_equal class system-node-critical "$(template_class kube-system daemonset/gpu-device-plugin)"
  eventually 20 "running pods" 2 pods_running kube-system name=gpu-device-plugin
  expect_equal trios "system-node-critical 2000001000 PreemptLowerPriority" "$(trios kube-system name=gpu-device-plugin)"
  expect_equal "calls about kube-system" 0 "$(audit_count '.namespace == "kube-system"')"
  k -n kube-system delete daemonset gpu-device-plugin
}
