# shellcheck shell=bash
# shellcheck disable=SC2154  # lower-case globals are set by run.sh
# Pods made by hand: the class they get, the fields the API server fills in from it, and what is refused.

check_pods() {
  check "case 001: a pod that got the global default gets its type's class" default_class_is_replaced
  check "case 001: number and policy are resolved from the new class" number_follows_the_class
  check "a training pod gets a class that never preempts, under a global default" never_class_under_global_default
  check "case 002: the same without a global default" never_class_without_global_default
  check "the global default is back" set_global_default true
  check "a pod of no workload type keeps what the API server gave it" untyped_pod_is_left_alone
  check "a misspelt workload type is a warning that kubectl prints" misspelt_type_warns
  check "a class above the type's ceiling is lowered, with a warning; a lower one stays" ceiling
  check "an interactive pod may hold four GPUs" interactive_pod_may_be_large
  check "case 011: a forged user name is refused like anybody" forged_user_is_refused
  check "case 016: GPUs of two containers are added" gpus_are_added
  check "case 017: an init container's GPU is not added" init_container_is_not_added
  check "case 018: every spelling of two is two" spellings_of_two
  check "case 019: two MIG slices on a preemptible pod are refused" mig_slices_are_gpus
  check "another mutating step, with and without a second call, changes nothing of what Podium decided" a_rival_changes_nothing
  check "pods: cleared" clear_namespaces serving nlp-batch research
}

default_class_is_replaced() {
  create_pod serving chat-frontend-0 interactive 1
  expect_equal class inference-interactive "$(field serving pod/chat-frontend-0 .spec.priorityClassName)"
  expect_contains "$(field serving pod/chat-frontend-0 '.metadata.annotations["podium.gpu/injected-by"]')" /interactive
}

number_follows_the_class() {
  expect_equal trio "inference-interactive 1000000 PreemptLowerPriority" "$(trio serving chat-frontend-0)"
}

never_class_under_global_default() {
  create_pod research pretrain-0 training 1
  expect_equal trio "training-queue-jumper 500000 Never" "$(trio research pretrain-0)"
}

never_class_without_global_default() {
  set_global_default false
  create_pod research pretrain-1 training 1
  expect_equal trio "training-queue-jumper 500000 Never" "$(trio research pretrain-1)"
}

# The API server's Priority step reads classes from a cache: the change counts when a pod without class shows it.
set_global_default() { # true|false
  local wanted=100
  [ "$1" = true ] || wanted=0
  k patch priorityclass cluster-default -p "{\"globalDefault\":$1}"
  eventually 20 "number of a pod without a class" "$wanted" number_of_a_plain_pod
}

number_of_a_plain_pod() { pod_manifest research probe "" 0 | k create --dry-run=server -o json -f - | jq .spec.priority; }

untyped_pod_is_left_alone() {
  create_pod research plain "" 0
  expect_equal trio "cluster-default 100 PreemptLowerPriority" "$(trio research plain)"
  expect_equal annotations null "$(field research pod/plain .metadata.annotations)"
}

misspelt_type_warns() {
  local said
  said=$(create_pod research typo interactiv 0)
  expect_contains "$said" "Warning: " "'interactiv'" "interactive"
}

ceiling() {
  local said
  said=$(create_pod research too-high training 1 '.spec.priorityClassName = "inference-interactive"')
  expect_contains "$said" "Warning: class 'inference-interactive' (1000000) is above the ceiling of workload type 'training'"
  expect_equal trio "training-queue-jumper 500000 Never" "$(trio research too-high)"
  said=$(create_pod research low training 1 '.spec.priorityClassName = "inference-batch"')
  expect_equal "kubectl's words" "pod/low created" "$said"
  expect_equal trio "inference-batch 1000 PreemptLowerPriority" "$(trio research low)"
}

interactive_pod_may_be_large() {
  create_pod serving four-gpus interactive 4
  expect_equal trio "inference-interactive 1000000 PreemptLowerPriority" "$(trio serving four-gpus)"
}

# The user name of a client certificate is its common name, taken as it is: line break, braces and all.
forged_user_is_refused() {
  make_client_certificate "$work/pki" forger $'/O=system:masters/CN=oidc:sam\n{"decision":"allow","user":"admin"}'
  write_kubeconfig "$work/forger.kubeconfig" "$work/pki" forger "$apiserver_port"
  pod_manifest nlp-batch embed-77 batch 2 '.spec.containers[0].env = [{name: "DB_PASSWORD", value: "pw-do-not-log-me"}]' \
    >"$work/embed-77.json"
  expect_refused '[multi-gpu-preemptible]' -- k --kubeconfig "$work/forger.kubeconfig" create -f "$work/embed-77.json"
}

gpus_are_added() {
  expect_refused '[multi-gpu-preemptible] spec: pod asks for 2 nvidia.com/gpu (containers: decode 1 + align 1)' -- \
    apply "$(manifest 016-gpus-split-over-two-containers.yaml)"
  expect_equal "stored" "" "$(k -n nlp-batch get pod asr-split --ignore-not-found -o name)"
}

init_container_is_not_added() {
  apply "$(manifest 017-init-container-is-not-added.yaml)"
  expect_equal trio "inference-batch 1000 PreemptLowerPriority" "$(trio nlp-batch asr-warm)"
}

spellings_of_two() {
  local said
  said=$(apply "$(manifest 018-other-spellings-of-two.yaml)") && fail "nothing was refused: $said"
  expect_equal "refusals" 4 "$(grep -c 'denied the request.*multi-gpu-preemptible' <<<"$said")"
  expect_equal "stored pods" "pod/qty-4-one pod/qty-5-one" "$(k -n nlp-batch get pods -o name | grep qty- | xargs)"
}

mig_slices_are_gpus() {
  expect_refused '[multi-gpu-preemptible]' nvidia.com/mig-1g.10gb -- apply "$(manifest 019-two-mig-slices.yaml)"
}

# A MutatingAdmissionPolicy runs before the webhooks, sees Podium's change in the second round and takes the annotation
# away. As registered (docs/adr/0006) Podium is not asked again; where an operator wants it asked, it changes nothing.
a_rival_changes_nothing() {
  k apply -f "$(manifest rival-policy.yaml)"
  eventually 20 "the rival's label" yes rival_label
  meet_the_rival rivalled 1
  REINVOCATION=IfNeeded register_webhook podium.gpu "https://127.0.0.1:$podium_port" "$work/certs/ca.crt"
  meet_the_rival rivalled-twice 2
  expect_equal "request ids of the two calls" 2 \
    "$(audit '.name == "rivalled-twice" and .endpoint == "mutate"' .uid | sort -u | wc -l)"
  register_webhook podium.gpu "https://127.0.0.1:$podium_port" "$work/certs/ca.crt"
  k delete -f "$(manifest rival-policy.yaml)"
}

meet_the_rival() { # pod mutating-calls
  create_pod research "$1" training 1
  expect_equal trio "training-queue-jumper 500000 Never" "$(trio research "$1")"
  expect_equal "label of the rival" yes "$(field research "pod/$1" '.metadata.labels.rival')"
  expect_equal "mutating calls" "$2" "$(audit_count ".name == \"$1\" and .endpoint == \"mutate\"")"
  expect_equal "classes after them" '"training-queue-jumper"' \
    "$(audit ".name == \"$1\"" '.templates[].after.priorityClassName' | sort -u)"
}

rival_label() { pod_manifest research probe "" 0 | k create --dry-run=server -o json -f - | jq -r .metadata.labels.rival; }
