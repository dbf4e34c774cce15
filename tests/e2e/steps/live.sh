# shellcheck shell=bash
# shellcheck disable=SC2154  # lower-case globals are set by run.sh
# Podium with a live cluster: two replicas under the chart's service account, registered by the chart with the chart's
# certificate. Classes, disruption budgets, who writes them, and an API server that goes away.

check_live() {
  clear_namespaces serving nlp-batch research
  remove_webhook podium.gpu
  stop_process podium
  start_replicas
  check "live: the chart registers both webhooks" chart_registers
  check "live: both replicas are ready and have read the cluster with the chart's rights" replicas_are_ready
  check "live: exactly one replica leads" one_leads
  check "case 013: a class that is gone is not given; one that comes back is used at once, with its new value" classes_are_live
  check "live: drift is in the metrics, and podium status and classes say it" drift_is_told
  check "live: podium classes apply creates what is missing" classes_apply
  check "budgets: an interactive Deployment gets one, owned by it" budget_appears
  check "budgets: the plan of the command line agrees" plan_agrees
  check "budgets: scaled to one and back, it never blocks and stays one object" budget_follows_a_scale
  check "budgets: it follows a selector" budget_follows_a_selector
  check "budgets: it steps aside for a user's own, and comes back" budget_steps_aside
  check "budgets: it goes with its workload" budget_goes
  check "budgets: dry run and refused workloads leave nothing behind" no_trace_of_what_is_not_stored
  check "budgets: an eviction is held back" eviction_is_held_back
  check "budgets: preemption spares them while something else helps, and only then breaks them" preemption_prefers
  check "budgets: events tell on the workload" events_are_told
  kill_the_leader
  check "kill -9 of the leader: the other takes over within the lease" other_takes_over
  check "kill -9 of the leader: a budget made since is there, and no budget twice" no_duplicates
  start_loop_of_applies
  restart_apiserver "$binaries" "$work"
  stop_loop_of_applies
  check "API server restarted: no apply failed in admission" no_admission_failed
  check "API server restarted: the watches go on, with one list at most" watches_go_on
  check "snapshot: what is printed can be read back, with and without names" snapshot_reads_back
}

# A kubeconfig with the rights of the chart's service account, nothing more.
service_account_kubeconfig() { # file
  local token server ca
  token=$(k -n podium-system create token podium --duration=1h)
  server=$(k config view --raw -o jsonpath='{.clusters[0].cluster.server}')
  ca=$(base64 -w0 <"$work/pki/ca.crt")
  cat >"$1" <<YAML
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "$server", certificate-authority-data: $ca}}]
users: [{name: podium, user: {token: "$token"}}]
contexts: [{name: test, context: {cluster: test, user: podium}}]
current-context: test
YAML
  chmod 600 "$1"
}

start_replica() { # name port operations-port
  start_process "$1" "$work/$1.log" "$podium" serve --kubeconfig "$work/podium.kubeconfig" --budgets write \
    --policy "$work/live-policy.yaml" --own-namespace podium-system --cert-file "$work/chart-certs/tls.crt" \
    --key-file "$work/chart-certs/tls.key" --listen "127.0.0.1:$2" --operations-listen "127.0.0.1:$3" \
    --audit-log "$work/$1-audit.jsonl" --drain 0s
}

# The shipped policy, and a budget for batch.
write_live_policy() {
  awk '{print} /^    - name: batch$/ {print "      budget: {minAvailable: 1}"}' "$root/policies/default.yaml" >"$work/live-policy.yaml"
}

start_replicas() {
  local part
  pick_port; live_port=$free_port
  pick_port; live_operations=$free_port
  pick_port; other_port=$free_port
  pick_port; other_operations=$free_port
  write_live_policy
  h upgrade podium "$root/charts/podium" --namespace podium-system --reuse-values --set webhooks.create=true \
    --set "webhooks.externalURL=https://127.0.0.1:$live_port" --set-file policy="$work/live-policy.yaml" >/dev/null
  mkdir -p "$work/chart-certs"
  for part in tls.crt tls.key ca.crt; do
    k -n podium-system get secret podium-tls -o json | jq -r --arg part "$part" '.data[$part]' | base64 -d >"$work/chart-certs/$part"
  done
  service_account_kubeconfig "$work/podium.kubeconfig"
  start_replica podium-1 "$live_port" "$live_operations"
  start_replica podium-2 "$other_port" "$other_operations"
  wait_until_ready podium-1 "$work/podium-1.log" 20 curl -sf "http://127.0.0.1:$live_operations/readyz"
  wait_until_ready podium-2 "$work/podium-2.log" 20 curl -sf "http://127.0.0.1:$other_operations/readyz"
}

metric() { # operations-port name-with-labels
  curl -sf "http://127.0.0.1:$1/metrics" | awk -v name="$2" 'index($0, name " ") == 1 {print $NF}'
}

chart_registers() {
  eventually 20 "both webhooks are called" yes are_both_called podium.gpu
  k get mutatingwebhookconfiguration podium-system-podium -o json | jq -e '.webhooks[0].failurePolicy == "Fail"'
}

replicas_are_ready() {
  local port text
  for port in "$live_operations" "$other_operations"; do
    text=$(curl -sf "http://127.0.0.1:$port/readyz?verbose")
    expect_contains "$text" "[+]snapshot ok" "pods: " "poddisruptionbudgets.policy: " " objects, heard of "
    expect_lacks "$text" "not synced"
  done
  expect_lacks "$(cat "$work/podium-1.log" "$work/podium-2.log")" forbidden
}

leaders() { echo $(($(metric "$live_operations" podium_budgets_leader) + $(metric "$other_operations" podium_budgets_leader))); }

one_leads() {
  eventually 20 leaders 1 leaders
  expect_equal "holder of the lease" 1 "$(field podium-system lease/podium-budgets '.spec.holderIdentity | length | if . > 0 then 1 else 0 end')"
}

# What the class of a new training pod comes to, by a dry run.
class_of_training() {
  pod_manifest research probe training 0 | k create --dry-run=server -o json -f - 2>/dev/null | jq -r '.spec | "\(.priorityClassName) \(.priority)"'
}

classes_are_live() {
  expect_equal "before" "training-queue-jumper 500000" "$(class_of_training)"
  k get priorityclass training-queue-jumper -o json | jq '{apiVersion, kind, metadata: {name: .metadata.name}, preemptionPolicy, value: 610000}' >"$work/jumper.json"
  k delete priorityclass training-queue-jumper
  eventually 5 "while it is gone" "cluster-default 100" class_of_training
  k create -f "$work/jumper.json"
  eventually 5 "when it is back" "training-queue-jumper 610000" class_of_training
}

drift_is_told() {
  eventually 5 "drift of values" 1 metric "$live_operations" 'podium_class_drift{difference="value"}'
  expect_refused "class 'training-queue-jumper' has value 610000 in the cluster and 500000 in the policy" -- \
    "$podium" classes diff --policy "$work/live-policy.yaml" --kubeconfig "$KUBECONFIG"
  expect_refused "differ from the policy's" "has value 610000" -- "$podium" status --policy "$work/live-policy.yaml" --kubeconfig "$KUBECONFIG"
  eventually 5 "lines about it in the log" 1 grep -c "classes: class 'training-queue-jumper' has value 610000" "$work/podium-1.log"
}

classes_apply() {
  k delete priorityclass training-queue-jumper
  "$podium" classes apply --policy "$work/live-policy.yaml" --kubeconfig "$KUBECONFIG"
  "$podium" classes diff --policy "$work/live-policy.yaml" --kubeconfig "$KUBECONFIG"
  eventually 5 "as the policy has it" "training-queue-jumper 500000" class_of_training
}

deployment_manifest() { # namespace name workload-type replicas gpus
  jq -n --arg namespace "$1" --arg name "$2" --arg type "$3" --argjson replicas "$4" --arg gpus "$5" '
    {apiVersion: "apps/v1", kind: "Deployment", metadata: {name: $name, namespace: $namespace, labels: {"podium.gpu/workload-type": $type}},
     spec: {replicas: $replicas, selector: {matchLabels: {app: $name}},
            template: {metadata: {labels: {app: $name, "podium.gpu/workload-type": $type}},
                       spec: {containers: [{name: "main", image: "registry.example.com/app:2.1", resources: {limits: {"nvidia.com/gpu": $gpus}}}]}}}}
    | if $gpus == "0" then del(.spec.template.spec.containers[0].resources) else . end'
}

budgets_of() { # namespace -> names with their limits, one line
  k -n "$1" get pdb -o json | jq -rc '[.items[] | [.metadata.name, (.spec.minAvailable // "-"), (.spec.maxUnavailable // "-")]] | sort'
}

budget_appears() {
  deployment_manifest serving chat interactive 3 1 | k create -f -
  eventually 10 budgets '[["podium-deployment-chat","-",1]]' budgets_of serving
  expect_equal "owner and policy" "Deployment/chat AlwaysAllow podium" \
    "$(field serving pdb/podium-deployment-chat '"\(.metadata.ownerReferences[0].kind)/\(.metadata.ownerReferences[0].name) \(.spec.unhealthyPodEvictionPolicy) \(.metadata.labels["app.kubernetes.io/managed-by"])"')"
  eventually 20 "disruptions allowed" 1 field serving pdb/podium-deployment-chat .status.disruptionsAllowed
}

plan_agrees() {
  local plan
  plan=$("$podium" pdb plan --policy "$work/live-policy.yaml" --kubeconfig "$KUBECONFIG" -n serving -o json)
  expect_equal plan '["chat","keep"]' "$(jq -c '.items[] | [.name, .step]' <<<"$plan")"
}

budget_follows_a_scale() {
  local uid
  uid=$(field serving pdb/podium-deployment-chat .metadata.uid)
  k -n serving scale deployment chat --replicas=1
  eventually 20 "pods" 1 pods_running serving app=chat
  eventually 20 "one eviction is still allowed" 1 field serving pdb/podium-deployment-chat .status.disruptionsAllowed
  k -n serving scale deployment chat --replicas=3
  eventually 20 "pods" 3 pods_running serving app=chat
  eventually 10 budgets '[["podium-deployment-chat","-",1]]' budgets_of serving
  expect_equal "the same object" "$uid" "$(field serving pdb/podium-deployment-chat .metadata.uid)"
}

# A ReplicationController is the one built-in kind whose selector may change.
budget_follows_a_selector() {
  local uid
  jq -n '{apiVersion: "v1", kind: "ReplicationController", metadata: {name: "old", namespace: "serving"},
    spec: {replicas: 2, selector: {app: "old"}, template: {metadata: {labels: {app: "old", track: "new", "podium.gpu/workload-type": "interactive"}},
    spec: {containers: [{name: "main", image: "registry.example.com/app:2.1"}]}}}}' | k create -f -
  eventually 10 "selector" '{"app":"old"}' selector_of podium-replicationcontroller-old
  uid=$(field serving pdb/podium-replicationcontroller-old .metadata.uid)
  k -n serving patch rc old --type merge -p '{"spec": {"selector": {"app": null, "track": "new"}}}'
  eventually 10 "selector" '{"track":"new"}' selector_of podium-replicationcontroller-old
  expect_equal "the same object" "$uid" "$(field serving pdb/podium-replicationcontroller-old .metadata.uid)"
  k -n serving delete rc old
}

selector_of() { k -n serving get pdb "$1" -o json | jq -c .spec.selector.matchLabels; }

budget_steps_aside() {
  k -n serving create poddisruptionbudget mine --selector=app=chat --min-available=2
  eventually 10 budgets '[["mine",2,"-"]]' budgets_of serving
  k -n serving delete pdb mine
  eventually 15 budgets '[["podium-deployment-chat","-",1]]' budgets_of serving
}

budget_goes() {
  k -n serving delete deployment chat
  eventually 20 budgets '[]' budgets_of serving
}

no_trace_of_what_is_not_stored() {
  deployment_manifest serving ghost interactive 3 1 | k create --dry-run=server -f -
  expect_refused "multi-gpu-preemptible" -- k create -f <(deployment_manifest nlp-batch greedy batch 2 2)
  # The next one is only planned after those could have been.
  deployment_manifest serving marker interactive 2 0 | k create -f -
  eventually 10 budgets '[["podium-deployment-marker","-",1]]' budgets_of serving
  expect_equal "budgets of refused workloads" '[]' "$(budgets_of nlp-batch)"
  k -n serving delete deployment marker
}

try_eviction() { # namespace pod -> HTTP code
  jq -n --arg ns "$1" --arg name "$2" '{apiVersion: "policy/v1", kind: "Eviction", metadata: {name: $name, namespace: $ns}}' >"$work/eviction.json"
  curl -s -o "$work/eviction-answer" -w '%{http_code}' --cacert "$work/pki/ca.crt" --cert "$work/pki/admin.crt" --key "$work/pki/admin.key" \
    -H 'Content-Type: application/json' --data-binary "@$work/eviction.json" \
    "https://127.0.0.1:$apiserver_port/api/v1/namespaces/$1/pods/$2/eviction"
}

# Each pod takes a whole node and a while to go: what replaces an evicted one has to wait.
eviction_is_held_back() {
  local pods
  deployment_manifest serving voice interactive 2 4 | jq '.spec.template.metadata.annotations = {"test.podium.gpu/exit-time": "20s"}' | k create -f -
  eventually 20 "pods" 2 pods_running serving app=voice
  eventually 20 "disruptions allowed" 1 field serving pdb/podium-deployment-voice .status.disruptionsAllowed
  mapfile -t pods < <(k -n serving get pods -l app=voice -o name | sed 's|pod/||')
  expect_equal "first eviction" 201 "$(try_eviction serving "${pods[0]}")"
  expect_equal "second eviction at once" 429 "$(try_eviction serving "${pods[1]}")"
  expect_contains "$(cat "$work/eviction-answer")" "disruption budget"
  k -n serving delete deployment voice
  k -n serving delete pods --all --grace-period=0 --force
}

# Two nodes of four GPUs: one full of batch pods with a budget that allows nothing, one full of pods without a budget.
preemption_prefers() {
  clear_namespaces serving nlp-batch research
  local i
  for i in 0 1 2 3; do pod_manifest research "loose-$i" "" 1 '.spec.nodeName = "gpu-b" | .spec.priorityClassName = "inference-batch"' | k create -f -; done
  jq -n '{apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: {name: "tight", namespace: "nlp-batch"},
    spec: {maxUnavailable: 0, selector: {matchLabels: {app: "embed"}}}}' | k create -f -
  deployment_manifest nlp-batch embed batch 4 1 | k create -f -
  eventually 30 "batch pods" 4 pods_running nlp-batch app=embed
  eventually 30 "loose pods" 4 count_pods research
  eventually 20 "healthy pods of the tight budget" 4 field nlp-batch pdb/tight .status.currentHealthy
  expect_equal "no second budget" '[["tight","-",0]]' "$(budgets_of nlp-batch)"
  pod_manifest serving first interactive 4 | k create -f -
  eventually 30 "where the first preemptor runs" gpu-b field serving pod/first .spec.nodeName
  expect_equal "batch pods with a budget" 4 "$(pods_running nlp-batch app=embed)"
  pod_manifest serving second interactive 2 | k create -f -
  eventually 30 "where the second preemptor runs" gpu-a field serving pod/second .spec.nodeName
  [ "$(pods_running nlp-batch app=embed)" -le 2 ] || fail "the budget was not violated although nothing else helped"
  k -n nlp-batch delete pdb tight
  clear_namespaces serving nlp-batch research
}

event_reasons() { k -n serving get events.events.k8s.io -o json | jq -r '[.items[] | select(.reportingController == "podium.gpu/budgets" or (.reportingController | startswith("podium"))) | .reason] | unique | join(" ")'; }

events_are_told() {
  expect_contains "$(event_reasons)" BudgetCreated
}

kill_the_leader() {
  eventually 20 leaders 1 leaders
  if [ "$(metric "$live_operations" podium_budgets_leader)" = 1 ]; then
    killed=podium-1
  else
    killed=podium-2
  fi
  stop_process "$killed" KILL
  leader_killed_at=$(date +%s%3N)
  # The webhook's own replica comes back at once, as a kubelet would see to it; it must not lead by that.
  if [ "$killed" = podium-1 ]; then
    start_replica podium-1 "$live_port" "$live_operations"
    wait_until_ready podium-1 "$work/podium-1.log" 20 curl -sf "http://127.0.0.1:$live_operations/readyz"
  fi
}

leaders_now() {
  local sum=0 port
  for port in "$live_operations" "$other_operations"; do sum=$((sum + $(metric "$port" podium_budgets_leader || echo 0))); done
  echo "$sum"
}

other_takes_over() {
  eventually 25 "somebody leads" 1 leaders_now
  local gap=$(($(date +%s%3N) - leader_killed_at))
  echo "leader again after $gap ms"
  # The lease counts from the last renewal, which was before the kill; half a second for two requests and for asking here.
  [ "$gap" -le 15500 ] || fail "nobody led for $gap ms"
}

no_duplicates() {
  deployment_manifest serving after interactive 2 0 | k create -f -
  eventually 20 budgets '[["podium-deployment-after","-",1]]' budgets_of serving
  expect_equal "workloads with two budgets" 0 "$(k get pdb -A -o json | jq '[.items[] | select(.metadata.labels["app.kubernetes.io/managed-by"] == "podium") | "\(.metadata.namespace)/\(.metadata.ownerReferences[0].uid)"] | (length - (unique | length))')"
}

# Applies without a pause while the API server restarts; each line: what kubectl said of a failure.
start_loop_of_applies() {
  watch_lists_before=$(metric "$live_operations" 'podium_watch_lists_total{resource="pods"}')
  # shellcheck disable=SC2016  # the other bash expands it
  start_process applies "$work/applies.log" bash -c '
    i=0
    while :; do
      i=$((i + 1))
      if said=$("$0" -n research run "load-$i" --image=registry.example.com/app:2.1 --labels=podium.gpu/workload-type=training --request-timeout=5s 2>&1)
      then echo ok; else echo "failed: $said"; fi
    done' "$binaries/kubectl"
  sleep 2 # some applies before
}

stop_loop_of_applies() {
  sleep 3 # and some after
  stop_process applies KILL
}

no_admission_failed() {
  expect_equal "applies that failed in admission" 0 "$(grep -c -E "failed calling webhook|denied the request" "$work/applies.log" || true)"
  [ "$(grep -c '^ok' "$work/applies.log")" -ge 10 ] || fail "$(tail -n 5 "$work/applies.log")"
  tail -n 1 "$work/applies.log" | grep -q . # the loop ran to the end
  eventually 15 "an apply works" "training-queue-jumper 500000" class_of_training
}

watches_go_on() {
  eventually 60 "classes after the restart" 0 metric "$live_operations" 'podium_class_drift{difference="missing"}'
  k create priorityclass late --value=7
  eventually 60 "a class made since is known" 7 late_class_value
  # A version from before the restart may be too old for the new server's cache: then one list, and no more.
  local lists=$(($(metric "$live_operations" 'podium_watch_lists_total{resource="pods"}') - watch_lists_before))
  [ "$lists" -le 1 ] || fail "$lists lists of pods since"
  k delete priorityclass late
}

late_class_value() {
  pod_manifest research probe "" 0 '.spec.priorityClassName = "late"' | k create --dry-run=server -o json -f - 2>/dev/null | jq -r .spec.priority
}

snapshot_reads_back() {
  "$podium" snapshot --kubeconfig "$KUBECONFIG" >"$work/snapshot.json"
  "$podium" snapshot --kubeconfig "$KUBECONFIG" --redact >"$work/redacted.json"
  "$podium" status --policy "$work/live-policy.yaml" --snapshot "$work/snapshot.json"
  "$podium" status --policy "$work/live-policy.yaml" --snapshot "$work/redacted.json"
  expect_equal "names left" 0 "$(grep -c 'podium-deployment-after\|"research"' "$work/redacted.json" || true)"
}
