# shellcheck shell=bash
# shellcheck disable=SC2154  # lower-case globals are set by run.sh
# The chart: the cluster's classes are the policy's ladder, because both come from one text.

check_chart() {
  check "helm lint finds nothing" chart_lints
  check "the chart made the classes of the ladder" classes_are_the_ladder
  check "the ConfigMap holds the shipped policy, word for word" configmap_holds_the_policy
  check "another policy makes other classes" chart_takes_another_policy
  check "a value that does not exist is refused" unknown_value_is_refused
  check "an upgrade changes nothing and breaks nothing; the certificate stays" upgrade_is_calm
  check "the API server accepts the whole chart" whole_chart_is_accepted
  check "an own certificate needs its CA" own_certificate_needs_a_ca
}

chart_lints() { h lint --strict "$root/charts/podium"; }

classes_are_the_ladder() {
  local stored
  stored=$(k get priorityclasses -o json | jq -c '[.items[] | select(.metadata.name | startswith("system-") | not)
    | [.metadata.name, .value, .preemptionPolicy, (.globalDefault // false)]] | sort_by(-.[1])')
  expect_equal classes '[["inference-interactive",1000000,"PreemptLowerPriority",false],["training-queue-jumper",500000,"Never",false],["inference-batch",1000,"PreemptLowerPriority",false],["cluster-default",100,"PreemptLowerPriority",true]]' "$stored"
}

configmap_holds_the_policy() {
  field podium-system configmap/podium-policy '.data["policy.yaml"]' >"$work/policy-in-cluster.yaml"
  diff <(cat "$root/policies/default.yaml"; echo) "$work/policy-in-cluster.yaml"
  "$podium" lint "$work/policy-in-cluster.yaml"
}

chart_takes_another_policy() {
  printf '%s\n' 'apiVersion: podium.gpu/v1' 'kind: PriorityPolicy' 'metadata: {name: other}' \
    'spec: {classes: [{name: other, value: 7, description: "one: more"}]}' >"$work/other-policy.yaml"
  h template other "$root/charts/podium" --set-file policy="$work/other-policy.yaml" >"$work/other-chart.yaml"
  k create --dry-run=server -f "$work/other-chart.yaml" -o json |
    jq -c 'select(.kind == "PriorityClass") | [.metadata.name, .value, .description]' >"$work/other-classes"
  expect_equal classes '["other",7,"one: more"]' "$(cat "$work/other-classes")"
}

unknown_value_is_refused() {
  expect_refused polcy -- h template other "$root/charts/podium" --set polcy=x
}

upgrade_is_calm() {
  local before
  before=$(field podium-system secret/podium-tls '.data')
  h upgrade podium "$root/charts/podium" --namespace podium-system --reuse-values
  classes_are_the_ladder
  expect_equal "certificate after the upgrade" "$before" "$(field podium-system secret/podium-tls '.data')"
}

# As by default: a Deployment, its Service, both webhooks. The API server takes every object, and no fewer.
whole_chart_is_accepted() {
  h template whole "$root/charts/podium" --namespace whole >"$work/whole-chart.yaml"
  k create namespace whole
  k create --dry-run=server -f "$work/whole-chart.yaml" -o json 2>"$work/whole-errors" | jq -r .kind | sort | uniq -c >"$work/whole-kinds" || true
  # The four classes are there already: the release `podium` made them.
  expect_equal "what the API server refused" 4 "$(grep -ci 'priorityclass' "$work/whole-errors")"
  expect_equal "all it refused" 4 "$(grep -c . "$work/whole-errors")"
  expect_equal kinds "ClusterRole ClusterRoleBinding ConfigMap Deployment MutatingWebhookConfiguration PodDisruptionBudget Role RoleBinding Secret Service ServiceAccount ValidatingWebhookConfiguration" \
    "$(awk '{print $2}' "$work/whole-kinds" | tr '\n' ' ' | sed 's/ $//')"
  k delete namespace whole --wait=false
}

own_certificate_needs_a_ca() {
  expect_refused "certificate.caBundle is empty" -- h template other "$root/charts/podium" --set certificate.existingSecret=mine
  h template other "$root/charts/podium" --set certificate.existingSecret=mine --set certificate.caBundle=- >"$work/own-certificate.yaml"
  expect_lacks "$(cat "$work/own-certificate.yaml")" caBundle "kind: Secret"
}
