#!/usr/bin/env bash
# Podium with a real control plane: etcd, kube-apiserver, kube-scheduler, kube-controller-manager, and kwok for the
# kubelets; driven by the real kubectl and helm. Builds nothing of Podium: PODIUM names the binary (default: the release build).
# Ends with "N passed, N failed"; takes about five minutes once the control plane's binaries are cached.
#   run.sh [--kubernetes VERSION] [--situations [ARGUMENTS]]
#   --kubernetes  another control plane than the usual one: a folder of controlplane/kubernetes/
#   --situations  only the random situations; ARGUMENTS go to them: --seed N, --count N, --only N
#   E2E_KEEP=1    keeps the folder with all logs also when everything passed
set -euo pipefail
e2e=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$e2e/../.." && pwd)
podium=${PODIUM:-$root/build/release/podium}

# shellcheck source=tests/e2e/controlplane/controlplane.sh
. "$e2e/controlplane/controlplane.sh"
# shellcheck source=tests/e2e/lib/report.sh
. "$e2e/lib/report.sh"
for file in "$e2e"/lib/{cluster,podium}.sh "$e2e"/steps/*.sh; do
  # shellcheck source=/dev/null
  . "$file"
done

kubernetes=() # the version that was asked for
only_situations=no
situation_arguments=()

parse_arguments() {
  while [ $# -gt 0 ]; do
    case $1 in
      --kubernetes)
        kubernetes=("${2:?which version follows --kubernetes}")
        shift 2
        ;;
      --situations)
        only_situations=yes
        shift
        # shellcheck disable=SC2034  # read by steps/situations.sh
        situation_arguments=("$@")
        return
        ;;
      *)
        echo "e2e: '$1' is not known; allowed: --kubernetes VERSION, --situations [ARGUMENTS]" >&2
        exit 2
        ;;
    esac
  done
}

require_tools() {
  local tool missing=()
  for tool in jq curl openssl setpriv base64 python3; do command -v "$tool" >/dev/null || missing+=("$tool"); done
  [ ${#missing[@]} -eq 0 ] || { echo "e2e: missing: ${missing[*]} (Debian: apt-get install jq curl openssl util-linux python3)" >&2; exit 1; }
  [ -x "$podium" ] || { echo "e2e: no podium at $podium; build it (./dev build) or set PODIUM" >&2; exit 1; }
}

clean_up() {
  local status=$?
  stop_all_processes TERM
  if [ "$status" = 0 ] && [ -z "${E2E_KEEP:-}" ]; then rm -rf "$work"; else echo "e2e: all logs are in $work" >&2; fi
}

show_logs() {
  local log
  for log in podium kube-apiserver kube-scheduler kube-controller-manager kwok; do
    printf -- '--- last lines of %s.log\n' "$log"
    tail -n 15 "$work/$log.log" 2>/dev/null || true
  done
  printf -- '--- last lines of the audit log\n'
  tail -n 5 "$work/podium-audit.jsonl" 2>/dev/null || true
}

set_the_stage() {
  install_chart >/dev/null
  k apply -f "$(manifest rayjob-crd.yaml)" -f "$(manifest cluster.yaml)" >/dev/null
  k wait --for=condition=Ready --timeout=30s nodes --all >/dev/null
  k wait --for=condition=Established --timeout=30s crd/rayjobs.ray.io >/dev/null
  eventually 30 "taints of the nodes" "null" field "" nodes '[.items[].spec.taints // empty] | if . == [] then null else . end'
  make_objects_from_before
}

raise_the_curtain() {
  "$root/certs/dev-certs.sh" "$work/certs"
  pick_port; podium_port=$free_port
  pick_port; operations_port=$free_port
  start_podium "$podium_port" "$operations_port"
  register_webhook podium.gpu "https://127.0.0.1:$podium_port" "$work/certs/ca.crt"
}

main() {
  parse_arguments "$@"
  require_tools
  binaries=$("$e2e/controlplane/build.sh" "${kubernetes[@]}")
  work=$(mktemp -d "${TMPDIR:-/tmp}/podium-e2e.XXXXXX")
  trap clean_up EXIT
  trap 'exit 130' INT TERM
  export KUBECACHEDIR=$work/kubectl-cache
  controlplane_up "$binaries" "$work" scheduler controllers kwok
  check_situations
  [ "$only_situations" = yes ] || check_the_webhook
  [ "$checks_failed" = 0 ] || show_logs
  report
}

check_the_webhook() {
  set_the_stage
  raise_the_curtain
  check_chart
  check_pods
  check_workloads
  check_updates
  check_quotas
  check_audit
  check_story
  check_one_gpu_nodes
  check_outage
  check_live
  check_queries
  check_advice
}

main "$@"
