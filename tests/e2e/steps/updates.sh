# shellcheck shell=bash
# shellcheck disable=SC2154  # lower-case globals are set by run.sh
# What happens to stored objects: old ones stay changeable, a class stays, dry runs store nothing, applies converge.

# Made before the webhook is registered, as they lie in every cluster that Podium is installed into.
make_objects_from_before() {
  k apply -f "$(manifest objects-from-before.yaml)" >/dev/null
}

check_updates() {
  check "case 003: an old Job that breaks today's policy can be annotated" old_job_is_changeable
  check "case 003: and deleted, its finalizer removed" old_job_is_deletable
  check "an old Deployment can be annotated and scaled" old_deployment_is_changeable
  check "but a new template is held to the policy" old_deployment_new_template
  check "case 008: kubectl diff shows the class before the first apply" diff_before
  check "case 008: dry run answers the same and stores nothing" dry_run
  check "apply twice changes nothing, diff is empty" apply_converges
  check "server-side apply twice: no conflict, nothing changed" server_side_apply_converges
  check "server-side apply: another manager may own other fields" second_manager
  check "a new image keeps the class, in the template and in the pods" new_image
  check "case 004: scale leaves the template alone" scale
  check "a running pod can be labelled, resized and debugged" running_pod_is_left_alone
  check "case 005: pods and Deployments can be deleted" delete_works
  check "cases 004, 005: so with every operation and subresource sent to Podium" subscribed_to_everything
  check "the usual rules are back" register_webhook podium.gpu "https://127.0.0.1:$podium_port" "$work/certs/ca.crt"
  check "updates: cleared" clear_namespaces serving research
}

old_job_is_changeable() {
  k -n legacy annotate job nightly-embed seen=yes
  expect_equal class null "$(template_class legacy job/nightly-embed)"
}

old_job_is_deletable() {
  k -n legacy delete job nightly-embed --cascade=foreground --wait=false
  k -n legacy annotate job nightly-embed still=changeable
  k -n legacy patch job nightly-embed --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'
  eventually 20 "the old Job" "" k -n legacy get job nightly-embed --ignore-not-found -o name
}

old_deployment_is_changeable() {
  k -n legacy annotate deployment legacy seen=yes
  k -n legacy scale deployment legacy --replicas=0
  k -n legacy patch deployment legacy -p '{"spec":{"revisionHistoryLimit":3}}'
  expect_equal class null "$(template_class legacy deployment/legacy)"
}

old_deployment_new_template() {
  expect_refused '[multi-gpu-preemptible] spec.template.spec: pod asks for 2 nvidia.com/gpu' -- \
    k -n legacy set image deployment/legacy main=registry.example.com/legacy:1.1
}

diff_before() {
  local said status=0
  said=$(k diff -f "$(manifest chat.yaml)") || status=$?
  expect_equal "exit code" 1 "$status"
  expect_contains "$said" "priorityClassName: inference-interactive"
}

dry_run() {
  local answer
  answer=$(k apply -f "$(manifest chat.yaml)" --dry-run=server -o json)
  expect_equal class inference-interactive "$(jq -r .spec.template.spec.priorityClassName <<<"$answer")"
  expect_equal stored "" "$(k -n serving get deployment chat --ignore-not-found -o name)"
  expect_equal "audit lines" '[true,"allow","inference-interactive"]' \
    "$(audit '.name == "chat"' '[.dryRun, .verdict, .templates[0].after.priorityClassName]' | sort -u)"
}

apply_converges() {
  expect_equal "first apply" "deployment.apps/chat created" "$(apply "$(manifest chat.yaml)")"
  expect_equal "second apply" "deployment.apps/chat unchanged" "$(apply "$(manifest chat.yaml)")"
  expect_equal "diff" "" "$(k diff -f "$(manifest chat.yaml)")"
  expect_equal class inference-interactive "$(template_class serving deployment/chat)"
}

resource_version() { field serving deployment/chat-ssa .metadata.resourceVersion; }

server_side_apply_converges() {
  local before
  sed 's/name: chat, /name: chat-ssa, /; s/app: chat/app: chat-ssa/' "$(manifest chat.yaml)" >"$work/chat-ssa.yaml"
  apply "$work/chat-ssa.yaml" --server-side --field-manager=team
  expect_equal class inference-interactive "$(template_class serving deployment/chat-ssa)"
  eventually 20 "running pods" 1 pods_running serving app=chat-ssa
  before=$(field serving deployment/chat-ssa .metadata.generation)
  apply "$work/chat-ssa.yaml" --server-side --field-manager=team
  expect_equal "generation" "$before" "$(field serving deployment/chat-ssa .metadata.generation)"
  expect_equal "diff" "" "$(k diff --server-side --field-manager=team -f "$work/chat-ssa.yaml")"
  expect_equal class inference-interactive "$(template_class serving deployment/chat-ssa)"
}

second_manager() {
  jq -n '{apiVersion: "apps/v1", kind: "Deployment", metadata: {name: "chat-ssa", namespace: "serving"},
    spec: {replicas: 2}}' >"$work/replicas.json"
  expect_refused "conflict with \"team\"" -- apply "$work/replicas.json" --server-side --field-manager=autoscaler
  jq '.spec = {paused: false} | .metadata.labels = {"example.com/seen": "yes"}' "$work/replicas.json" >"$work/label.json"
  apply "$work/label.json" --server-side --field-manager=labeller
  expect_equal class inference-interactive "$(template_class serving deployment/chat-ssa)"
}

new_image() {
  k -n serving set image deployment/chat server=registry.example.com/chat:1.1
  expect_equal class inference-interactive "$(template_class serving deployment/chat)"
  eventually 20 "images that run" registry.example.com/chat:1.1 running_images
  expect_equal trios "inference-interactive 1000000 PreemptLowerPriority" "$(trios serving app=chat)"
}

running_images() {
  k -n serving get pods -l app=chat -o json |
    jq -r '.items[] | select(.status.phase == "Running" and .metadata.deletionTimestamp == null) | .spec.containers[0].image' | sort -u
}

scale() {
  local template
  template=$(field serving deployment/chat .spec.template)
  k -n serving scale deployment chat --replicas=2
  eventually 20 "running pods" 2 pods_running serving app=chat
  expect_equal template "$template" "$(field serving deployment/chat .spec.template)"
}

# The three fields are immutable on a stored pod, and nothing about them is asked again.
running_pod_is_left_alone() {
  local pod
  pod=$(k -n serving get pods -l app=chat -o json | jq -r '.items[0].metadata.name')
  touch_running_pod "$pod"
  expect_equal "decisions about the pod's updates" '["allow","pod_update"]' \
    "$(audit ".name == \"$pod\" and .operation == \"UPDATE\"" '[.verdict, .skipped]' | sort -u)"
}

touch_running_pod() { # pod
  k -n serving label pod "$1" touched=yes --overwrite
  k -n serving patch pod "$1" --subresource resize \
    -p '{"spec":{"containers":[{"name":"server","resources":{"requests":{"cpu":"200m"},"limits":{"cpu":"200m"}}}]}}'
  k -n serving debug "pod/$1" --image=registry.example.com/debug:1.0 --attach=false --quiet
  expect_equal trio "inference-interactive 1000000 PreemptLowerPriority" "$(trio serving "$1")"
}

delete_works() {
  local pod
  pod=$(k -n serving get pods -l app=chat -o json | jq -r '.items[0].metadata.name')
  k -n serving delete pod "$pod" --wait=true --timeout=20s
  eventually 20 "running pods" 2 pods_running serving app=chat
  k -n serving delete deployment chat --cascade=foreground --timeout=30s
}

# A cluster admin may write wider rules than ours. Nothing that comes with them may be changed or fail.
subscribed_to_everything() {
  local change='.webhooks[0].rules |= map(.operations = ["*"] | .resources |= map(., . + "/*"))
    | .webhooks[0].namespaceSelector = {} | del(.metadata.resourceVersion, .metadata.managedFields)' kind
  for kind in mutatingwebhookconfiguration validatingwebhookconfiguration; do
    k get "$kind" podium.gpu -o json | jq "$change" | k replace -f -
  done
  eventually 20 "audit lines of deletes" yes sees_deletes
  apply "$(manifest chat.yaml)"
  k -n serving scale deployment chat --replicas=2
  eventually 20 "running pods" 2 pods_running serving app=chat
  expect_equal trios "inference-interactive 1000000 PreemptLowerPriority" "$(trios serving app=chat)"
  local pod
  pod=$(k -n serving get pods -l app=chat -o json | jq -r '.items[0].metadata.name')
  touch_running_pod "$pod"
  evict "$pod"
  eventually 20 "the evicted pod" "" k -n serving get pod "$pod" --ignore-not-found -o name
  k -n serving delete deployment chat --cascade=foreground --timeout=30s
  apply "$(manifest 027-system-daemon-keeps-its-class.yaml)"
  expect_equal class system-node-critical "$(template_class kube-system daemonset/gpu-device-plugin)"
  k -n kube-system delete daemonset gpu-device-plugin --cascade=foreground --timeout=30s
  everything_was_left_alone
}

sees_deletes() {
  create_pod research deleted-soon "" 0 >/dev/null
  k -n research delete pod deleted-soon --grace-period=0 --wait=true >/dev/null
  [ "$(audit_count '.operation == "DELETE" and .name == "deleted-soon"')" = 0 ] || echo yes
}

evict() { # pod
  jq -n --arg name "$1" '{apiVersion: "policy/v1", kind: "Eviction", metadata: {name: $name, namespace: "serving"}}' |
    k create --raw "/api/v1/namespaces/serving/pods/$1/eviction" -f -
}

everything_was_left_alone() {
  expect_equal "decisions about subresources" '["allow","subresource"]' \
    "$(audit '.subResource' '[.verdict, .skipped]' | sort -u)"
  expect_equal "decisions about deletes" '["allow","not_ours"]' \
    "$(audit '.operation == "DELETE"' '[.verdict, .skipped]' | sort -u)"
  expect_equal "decisions about kube-system" '["allow","protected_namespace"]' \
    "$(audit '.namespace == "kube-system" and (.subResource | not) and .operation != "DELETE"' '[.verdict, .skipped]' | sort -u)"
  local sub
  for sub in scale eviction ephemeralcontainers resize binding status; do
    [ "$(audit_count ".subResource == \"$sub\"")" -gt 0 ] || fail "no call for subresource $sub was seen" || return 1
  done
}
