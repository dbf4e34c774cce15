# shellcheck shell=bash
# shellcheck disable=SC2154  # lower-case globals are set by run.sh
# kubectl and what the API server has stored. Sourced; needs $binaries and $KUBECONFIG.

# Always the kubectl that was built with this API server: another one on the machine may be anything.
k() { "$binaries/kubectl" "$@"; }

# The helm that was built beside it.
h() { "$binaries/helm" "$@"; }

# The classes of the ladder and the policy, as a user installs them who runs Podium outside the cluster. The webhooks
# come later, when somebody answers them.
install_chart() {
  h install podium "$root/charts/podium" --namespace podium-system --create-namespace \
    --set webhooks.create=false --set webhooks.externalURL=https://127.0.0.1:1 --set "certificate.addresses={127.0.0.1}"
}

manifest() { printf '%s/manifests/%s' "$e2e" "$1"; }

# Field of a stored object, through jq; a field that is absent is printed as null.
field() { # namespace kind/name jq-expression
  k -n "$1" get "$2" -o json | jq -r "$3"
}

exists() { # namespace kind/name
  k -n "$1" get "$2" -o name >/dev/null 2>&1
}

# The three fields of a pod as one line: "inference-batch 1000 PreemptLowerPriority".
trio() { # namespace pod
  field "$1" "pod/$2" '.spec | "\(.priorityClassName) \(.priority) \(.preemptionPolicy)"'
}

# The same of all pods with a label: one line for each kind of pod there is.
trios() { # namespace selector
  k -n "$1" get pods -l "$2" -o json | jq -r '.items[].spec | "\(.priorityClassName) \(.priority) \(.preemptionPolicy)"' | sort -u
}

pods_running() { # namespace selector -> how many
  k -n "$1" get pods -l "$2" -o json | jq '[.items[] | select(.status.phase == "Running" and .metadata.deletionTimestamp == null)] | length'
}

# Applies and prints all that kubectl said. Fails when kubectl does.
apply() { # file [kubectl options...]
  local file=$1
  shift
  k apply -f "$file" "$@" 2>&1
}

# kubectl must fail, and say each of the parts.
expect_refused() { # part... -- command...
  local parts=() said
  while [ "$1" != -- ]; do parts+=("$1"); shift; done
  shift
  if said=$("$@" 2>&1); then fail "wanted a refusal, but it was accepted: $said" || return 1; fi
  printf '%s\n' "$said"
  expect_contains "$said" "${parts[@]}"
}

# Removes what the checks before made, so that the next ones find the nodes empty.
clear_namespaces() { # namespace...
  local namespace
  for namespace in "$@"; do
    k -n "$namespace" delete deployments,statefulsets,daemonsets,replicasets,replicationcontrollers,cronjobs,jobs,resourcequotas \
      --all --wait=false >/dev/null
    k -n "$namespace" delete pods --all --wait=false --grace-period=0 >/dev/null
  done
  for namespace in "$@"; do
    eventually 30 "pods left in $namespace" 0 count_pods "$namespace"
  done
}

count_pods() { k -n "$1" get pods -o name | wc -l; }

# A pod like those of the cases, on standard output.
pod_manifest() { # namespace name workload-type gpus [jq program that changes it]
  jq -n --arg namespace "$1" --arg name "$2" --arg type "$3" --arg gpus "$4" '
    {apiVersion: "v1", kind: "Pod",
     metadata: {name: $name, namespace: $namespace, labels: {app: $name}},
     spec: {containers: [{name: "main", image: "registry.example.com/app:2.1"}]}}
    | if $type == "" then . else .metadata.labels["podium.gpu/workload-type"] = $type end
    | if $gpus == "0" then . else .spec.containers[0].resources.limits = {"nvidia.com/gpu": $gpus} end
    | '"${5:-.}"
}

create_pod() { # as pod_manifest
  pod_manifest "$@" | k create -f - 2>&1
}
