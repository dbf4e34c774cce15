# shellcheck shell=bash
# shellcheck disable=SC2154  # lower-case globals are set by run.sh
# ResourceQuotas that grant GPUs: only those that single out high classes may hold them.

check_quotas() {
  check "case 026: a quota scoped to the high class is accepted without a word" good_quota
  check "case 026: it is charged for interactive pods only" good_quota_is_charged
  check "case 010: an update that drops the scope is refused" dropped_scope
  check "case 024: a key that is never charged is a warning that names the right one" uncharged_key
  check "case 025: NotIn is no scope" not_in_is_no_scope
  check "a high-priority quota without any scope is refused" unscoped_quota
  check "quotas: cleared" clear_namespaces serving nlp-batch
}

good_quota() {
  local said
  said=$(apply "$(manifest 026-quota-that-is-right.yaml)")
  expect_equal "kubectl's words" "resourcequota/serving-high-c created" "$said"
}

good_quota_is_charged() {
  eventually 20 "quota status" 0 field serving quota/serving-high-c '.status.used["requests.nvidia.com/gpu"]'
  create_pod serving counted interactive 2
  create_pod serving not-counted batch 1
  eventually 20 "GPUs charged" 2 field serving quota/serving-high-c '.status.used["requests.nvidia.com/gpu"]'
  expect_refused "exceeded quota: serving-high-c" -- create_pod serving too-many interactive 7
}

dropped_scope() {
  jq -n '{apiVersion: "v1", kind: "ResourceQuota",
    metadata: {name: "serving-high-c", namespace: "serving", labels: {"podium.gpu/tier": "high-priority"}},
    spec: {hard: {"requests.nvidia.com/gpu": "8", pods: "24"}}}' >"$work/unscoped.json"
  expect_refused '[unscoped-high-priority-quota]' serving-high-c -- apply "$work/unscoped.json"
  expect_equal "scope that is stored" In "$(field serving quota/serving-high-c '.spec.scopeSelector.matchExpressions[0].operator')"
  local scopes
  scopes=$(audit '.name == "serving-high-c" and .operation == "UPDATE" and .verdict == "refuse"' .quotaScope | sort -u)
  expect_contains "$scopes" '"before":"PriorityClass In [inference-interactive]"' '"after":"none"'
}

uncharged_key() {
  local said
  said=$(apply "$(manifest 024-quota-key-that-is-never-charged.yaml)")
  expect_contains "$said" "Warning: " "nvidia.com/gpu" "limits.nvidia.com/gpu" "requests.nvidia.com/gpu"
}

not_in_is_no_scope() {
  expect_refused '[unscoped-high-priority-quota]' serving-high-b NotIn "operator: In" -- \
    apply "$(manifest 025-scope-that-also-takes-classless-pods.yaml)"
}

unscoped_quota() {
  sed -i 's/serving-high-c/serving-open/' "$work/unscoped.json"
  expect_refused '[unscoped-high-priority-quota]' serving-open scopeSelector -- apply "$work/unscoped.json"
}
