# shellcheck shell=bash
# shellcheck disable=SC2154  # lower-case globals are set by run.sh
# The query listener with a real API server: who may ask, what they are shown, and what happens when nobody can tell.

check_queries() {
  check "queries: the chart gives the rights, the port and the option" chart_opens_the_listener
  start_query_replica
  set_tenants_up
  check "queries: who may create pods there is answered; other people's pods have no name" victims_are_hidden
  check "queries: a workload is placed as a whole" workload_is_placed
  check "queries: a right that is given shows the names, one that is taken hides them" names_follow_rights
  check "queries: without a token, with a bad one, without rights: 401, 401, 403" strangers_are_refused
  check "queries: a token for Podium alone is taken where it is asked for, and no other" audience_counts
  check "queries: what the policy refuses and what cannot be read are told" objects_are_judged
  check "queries: an API server that hangs is a 503, and reviews are as quick as ever" hanging_apiserver
  chat_question
  stop_process kube-apiserver
  check "queries: without an API server nobody is answered, and reviews are" no_apiserver_no_answer
  restart_apiserver "$binaries" "$work"
  check "queries: with the API server there are answers again" eventually 30 "code" 200 code_of_chat
  check "queries: no token is in the log" log_has_no_token
  k -n nlp-batch delete pods -l app=embed --grace-period=0 --force >/dev/null 2>&1
}

start_one_query_replica() { # name option...
  local name=$1
  shift
  pick_port; query_port=$free_port
  pick_port; query_webhook_port=$free_port
  pick_port; query_operations=$free_port
  start_process "$name" "$work/$name.log" "$podium" serve --kubeconfig "$work/podium.kubeconfig" --policy "$work/live-policy.yaml" \
    --own-namespace podium-system --cert-file "$work/chart-certs/tls.crt" --key-file "$work/chart-certs/tls.key" \
    --listen "127.0.0.1:$query_webhook_port" --operations-listen "127.0.0.1:$query_operations" \
    --query-listen "127.0.0.1:$query_port" --audit-log "$work/$name-audit.jsonl" --drain 0s "$@"
  wait_until_ready "$name" "$work/$name.log" 20 curl -sf "http://127.0.0.1:$query_operations/readyz"
}

start_query_replica() {
  # `podium classes apply` gave a class another value than the chart's before, and owns it since.
  h upgrade podium "$root/charts/podium" --namespace podium-system --reuse-values --set query.enabled=true --force-conflicts >/dev/null
  service_account_kubeconfig "$work/podium.kubeconfig"
  start_one_query_replica podium-query
}

chart_opens_the_listener() {
  h template whole "$root/charts/podium" --set query.enabled=true --set 'query.audiences={podium}' >"$work/query-chart.yaml"
  expect_contains "$(cat "$work/query-chart.yaml")" "--query-listen=0.0.0.0:9444" "--query-audience=podium" "port: 9444, targetPort: query" \
    "resources: [tokenreviews], verbs: [create]" "resources: [subjectaccessreviews], verbs: [create]"
  expect_lacks "$(h template whole "$root/charts/podium")" tokenreviews 9444 query-listen
}

# Batch pods of one tenant fill both nodes. The asker may create and list pods in `serving`, and nothing else.
set_tenants_up() {
  local i
  clear_namespaces serving nlp-batch research
  for i in 0 1 2 3; do
    pod_manifest nlp-batch "embed-a$i" batch 1 '.spec.nodeName = "gpu-a" | .metadata.labels.app = "embed"' | k create -f - >/dev/null
    pod_manifest nlp-batch "embed-b$i" batch 1 '.spec.nodeName = "gpu-b" | .metadata.labels.app = "embed"' | k create -f - >/dev/null
  done
  eventually 30 "batch pods" 8 pods_running nlp-batch app=embed
  k -n serving create serviceaccount asker >/dev/null
  k -n serving create serviceaccount stranger >/dev/null
  k create clusterrole pod-lister --verb=list --resource=pods >/dev/null
  k -n serving create role pod-maker --verb=create --verb=list --resource=pods >/dev/null
  k -n serving create rolebinding pod-maker --role=pod-maker --serviceaccount=serving:asker >/dev/null
  asker_token=$(k -n serving create token asker)
  stranger_token=$(k -n serving create token stranger)
}

# Prints the HTTP code; the body is in $work/answer, the head in $work/answer-head.
ask() { # token file [query]
  local field=()
  [ -z "$1" ] || field=(-H "Authorization: Bearer $1")
  curl -s -o "$work/answer" -D "$work/answer-head" -w '%{http_code}' --max-time 12 --cacert "$work/chart-certs/ca.crt" "${field[@]}" \
    -H 'Content-Type: application/json' --data-binary "@$2" "https://127.0.0.1:$query_port/v1/feasibility${3:-}"
}

chat_question() {
  pod_manifest serving chat interactive 2 >"$work/chat.json"
}

# The picture behind the listener is a moment old.
verdict_of_chat() {
  ask "$asker_token" "$work/chat.json" >/dev/null
  jq -r .verdict "$work/answer"
}

victims_are_hidden() {
  chat_question
  eventually 10 verdict FitsAfterPreemption verdict_of_chat
  expect_equal code 200 "$(ask "$asker_token" "$work/chat.json")"
  expect_equal victims '[["(hidden)","(hidden)","inference-batch",1000,1],["(hidden)","(hidden)","inference-batch",1000,1]]' \
    "$(jq -c '[.plan.victims[] | [.namespace, .name, .priorityClassName, .priority, .gpus[0].count]]' "$work/answer")"
  expect_equal "rules of the API server's version" "$(k version -o json | jq -r '.serverVersion | "\(.major).\(.minor)"')" \
    "$(jq -r .schedulerVersion "$work/answer")"
  expect_lacks "$(cat "$work/answer")" embed nlp-batch
}

workload_is_placed() {
  deployment_manifest serving chat interactive 3 2 >"$work/chats.json"
  expect_equal code 200 "$(ask "$asker_token" "$work/chats.json" '?replicas=5&gang=true')"
  expect_equal "five pods of two GPUs on eight" '[5,false,"AllOrNothing"]' "$(jq -c '.workload | [.wanted, .feasible, .placing]' "$work/answer")"
  expect_lacks "$(cat "$work/answer")" embed nlp-batch
}

victim_namespaces() {
  ask "$asker_token" "$work/chat.json" >/dev/null
  jq -r '[.plan.victims[].namespace] | unique | join(" ")' "$work/answer"
}

names_follow_rights() {
  chat_question
  k -n nlp-batch create rolebinding lister --clusterrole=pod-lister --serviceaccount=serving:asker
  eventually 20 "namespaces of victims" nlp-batch victim_namespaces
  k -n nlp-batch delete rolebinding lister
  eventually 20 "namespaces of victims" "(hidden)" victim_namespaces
}

strangers_are_refused() {
  chat_question
  expect_equal "no token" 401 "$(ask "" "$work/chat.json")"
  expect_contains "$(tr '[:upper:]' '[:lower:]' <"$work/answer-head")" "www-authenticate: bearer"
  expect_equal "a token that is none" 401 "$(ask "${asker_token%????}AAAA" "$work/chat.json")"
  expect_equal "no right" 403 "$(ask "$stranger_token" "$work/chat.json")"
  expect_contains "$(cat "$work/answer")" "may not create pods in the namespace 'serving'"
  pod_manifest nlp-batch chat interactive 1 >"$work/elsewhere.json"
  expect_equal "no right in that namespace" 403 "$(ask "$asker_token" "$work/elsewhere.json")"
}

audience_counts() {
  local kept=$query_port for_podium
  chat_question
  for_podium=$(k -n serving create token asker --audience=podium)
  expect_equal "for Podium alone, where the API server's are wanted" 401 "$(ask "$for_podium" "$work/chat.json")"
  start_one_query_replica podium-audience --query-audience podium
  expect_equal "for Podium alone" 200 "$(ask "$for_podium" "$work/chat.json")"
  expect_equal "for the API server" 401 "$(ask "$asker_token" "$work/chat.json")"
  stop_process podium-audience
  query_port=$kept
}

objects_are_judged() {
  pod_manifest serving greedy batch 2 >"$work/greedy.json"
  expect_equal "refused by the policy" 422 "$(ask "$asker_token" "$work/greedy.json")"
  expect_contains "$(cat "$work/answer")" multi-gpu-preemptible
  echo 'kind: Pod' >"$work/no.json"
  expect_equal "no JSON" 400 "$(ask "$asker_token" "$work/no.json")"
  chat_question
  expect_equal "an unknown parameter" 400 "$(ask "$asker_token" "$work/chat.json" '?nodes=3')"
}

review_answers() { # -> HTTP code, within a second
  jq -n --slurpfile pod "$work/chat.json" '{apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: {uid: "u", operation: "CREATE",
    kind: {group: "", version: "v1", kind: "Pod"}, resource: {group: "", version: "v1", resource: "pods"}, namespace: "serving", object: $pod[0]}}' >"$work/review.json"
  curl -s -o /dev/null -w '%{http_code}' --max-time 1 --cacert "$work/chart-certs/ca.crt" -H 'Content-Type: application/json' \
    --data-binary "@$work/review.json" "https://127.0.0.1:$query_webhook_port/validate"
}

hanging_apiserver() {
  local pid=${process_pid[kube-apiserver]} i asked=() codes
  chat_question
  kill -s STOP "$pid"
  trap 'kill -s CONT '"$pid" EXIT
  for i in 1 2 3 4 5 6; do
    curl -s -o /dev/null -w '%{http_code}\n' --max-time 12 --cacert "$work/chart-certs/ca.crt" -H "Authorization: Bearer nobody-$i" \
      -H 'Content-Type: application/json' --data-binary "@$work/chat.json" "https://127.0.0.1:$query_port/v1/feasibility" >"$work/hang-$i" &
    asked+=($!)
  done
  expect_equal "a review meanwhile" 200 "$(review_answers)"
  wait "${asked[@]}"
  kill -s CONT "$pid"
  trap - EXIT
  codes=$(sort -u "$work"/hang-? | tr '\n' ' ')
  expect_equal "codes while it hangs" "503 " "$codes"
}

code_of_chat() { ask "$asker_token" "$work/chat.json"; }

no_apiserver_no_answer() {
  # What is remembered of a caller is good for ten seconds.
  eventually 15 "code" 503 code_of_chat
  expect_contains "$(tr '[:upper:]' '[:lower:]' <"$work/answer-head")" "retry-after: 1"
  expect_lacks "$(cat "$work/answer")" verdict
  expect_equal "a review meanwhile" 200 "$(review_answers)"
}

log_has_no_token() {
  expect_contains "$(cat "$work/podium-query.log")" "user 'system:serviceaccount:serving:asker' object 'serving/chat' outcome answered"
  expect_equal "lines with a token" 0 "$(grep -cE "eyJ|$asker_token|nobody-[0-9]" "$work/podium-query.log" || true)"
  expect_contains "$(curl -sf "http://127.0.0.1:$query_operations/metrics")" 'podium_query_requests_total{outcome="unavailable"}'
}
