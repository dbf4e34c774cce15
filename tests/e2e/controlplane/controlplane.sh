#!/usr/bin/env bash
# A real Kubernetes control plane on loopback, without containers.
# Sourced (tests):  controlplane_up BINARIES DIR [WHAT...]   WHAT: scheduler controllers kwok; none: only the API server
#                   -> $KUBECONFIG, DIR/*.log, DIR/apiserver-audit.log; ends with the shell that sourced it
# Run (by hand):    controlplane.sh up DIR   stays in the foreground; Ctrl-C ends it
set -euo pipefail
controlplane_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/controlplane/processes.sh
. "$controlplane_here/processes.sh"

make_client_certificate() { # pki-folder file-name subject
  (
    cd "$1"
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -utf8 -multivalue-rdn -keyout "$2.key" -out "$2.csr" -subj "$3"
    openssl x509 -req -in "$2.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out "$2.crt" \
      -extfile <(printf 'extendedKeyUsage=clientAuth\n')
  ) 2>/dev/null
}

make_pki() { # folder
  mkdir -p "$1"
  (
    cd "$1"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -keyout ca.key -out ca.crt -days 2 -subj /CN=test-ca
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -keyout apiserver.key -out apiserver.csr -subj /CN=kube-apiserver
    openssl x509 -req -in apiserver.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out apiserver.crt \
      -extfile <(printf 'subjectAltName=DNS:kubernetes,DNS:localhost,IP:127.0.0.1,IP:10.0.0.1\nextendedKeyUsage=serverAuth\n')
    openssl ecparam -name prime256v1 -genkey -noout -out sa.key
    openssl ec -in sa.key -pubout -out sa.pub
  ) 2>/dev/null
  # Each part is its own user, as in a real cluster: audit lines then say who made a pod.
  make_client_certificate "$1" admin "/O=system:masters/CN=admin"
  make_client_certificate "$1" scheduler "/CN=system:kube-scheduler"
  make_client_certificate "$1" controllers "/CN=system:kube-controller-manager"
}

write_kubeconfig() { # file pki-folder user-file port
  cat >"$1" <<YAML
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "https://127.0.0.1:$4", certificate-authority: $2/ca.crt}}]
users: [{name: $3, user: {client-certificate: $2/$3.crt, client-key: $2/$3.key}}]
contexts: [{name: test, context: {cluster: test, user: $3}}]
current-context: test
YAML
}

start_etcd() { # binaries dir
  pick_port; etcd_url=http://127.0.0.1:$free_port
  pick_port; local peer=http://127.0.0.1:$free_port
  # The data is thrown away at the end: no need to wait for a disk.
  start_process etcd "$2/etcd.log" "$1/etcd" --data-dir "$2/etcd" --unsafe-no-fsync --log-level warn \
    --listen-client-urls "$etcd_url" --advertise-client-urls "$etcd_url" --listen-peer-urls "$peer" \
    --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer"
}

apiserver_port="" # kept: clients find it again after a restart

start_apiserver() { # binaries dir
  local pki=$2/pki
  if [ -z "$apiserver_port" ]; then pick_port; apiserver_port=$free_port; fi
  # Without the ServiceAccount step a pod needs no token of a service account, which no fake kubelet would mount.
  start_process kube-apiserver "$2/kube-apiserver.log" "$1/kube-apiserver" --etcd-servers="$etcd_url" \
    --secure-port="$apiserver_port" --bind-address=127.0.0.1 --advertise-address=127.0.0.1 --endpoint-reconciler-type=none \
    --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" --client-ca-file="$pki/ca.crt" \
    --requestheader-client-ca-file="$pki/ca.crt" --requestheader-allowed-names=nobody \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$pki/sa.pub" \
    --service-account-signing-key-file="$pki/sa.key" --service-cluster-ip-range=10.0.0.0/24 \
    --authorization-mode=RBAC --allow-privileged=true --disable-admission-plugins=ServiceAccount \
    --audit-log-path="$2/apiserver-audit.log" --audit-policy-file="$controlplane_here/audit-policy.yaml" \
    --event-ttl=10m --watch-cache=true
  write_kubeconfig "$2/kubeconfig" "$pki" admin "$apiserver_port"
  write_kubeconfig "$2/scheduler.kubeconfig" "$pki" scheduler "$apiserver_port"
  write_kubeconfig "$2/controllers.kubeconfig" "$pki" controllers "$apiserver_port"
}

start_scheduler() { # binaries dir
  pick_port; scheduler_port=$free_port
  start_process kube-scheduler "$2/kube-scheduler.log" "$1/kube-scheduler" --kubeconfig="$2/scheduler.kubeconfig" \
    --authentication-kubeconfig="$2/scheduler.kubeconfig" --authorization-kubeconfig="$2/scheduler.kubeconfig" \
    --leader-elect=false --bind-address=127.0.0.1 --secure-port="$scheduler_port" --cert-dir="$2/scheduler-certs"
}

start_controllers() { # binaries dir
  pick_port; controllers_port=$free_port
  start_process kube-controller-manager "$2/kube-controller-manager.log" "$1/kube-controller-manager" \
    --kubeconfig="$2/controllers.kubeconfig" --authentication-kubeconfig="$2/controllers.kubeconfig" \
    --authorization-kubeconfig="$2/controllers.kubeconfig" --use-service-account-credentials=true \
    --service-account-private-key-file="$2/pki/sa.key" --root-ca-file="$2/pki/ca.crt" --leader-elect=false \
    --kube-api-qps=500 --kube-api-burst=1000 \
    --bind-address=127.0.0.1 --secure-port="$controllers_port" --cert-dir="$2/controllers-certs"
}

start_kwok() { # binaries dir
  # HOME: kwok merges the caller's own ~/.kwok/kwok.yaml if there is one.
  start_process kwok "$2/kwok.log" env HOME="$2" "$1/kwok" --kubeconfig="$2/kubeconfig" --manage-all-nodes \
    --node-lease-duration-seconds=40 --config="$controlplane_here/kwok-stages.yaml"
}

restart_apiserver() { # binaries dir
  stop_process kube-apiserver
  start_apiserver "$1" "$2"
  wait_until_ready kube-apiserver "$2/kube-apiserver.log" 60 answers_ok "$apiserver_port" /readyz
}

answers_ok() { # port path
  [ "$(curl -sk --max-time 2 --cert "$controlplane_dir/pki/admin.crt" --key "$controlplane_dir/pki/admin.key" \
    "https://127.0.0.1:$1$2")" = ok ]
}

controlplane_up() { # binaries dir [what...]
  local binaries=$1 dir part
  dir=$(realpath -m "$2")
  shift 2
  controlplane_dir=$dir
  make_pki "$dir/pki"
  start_etcd "$binaries" "$dir"
  start_apiserver "$binaries" "$dir"
  wait_until_ready kube-apiserver "$dir/kube-apiserver.log" 60 answers_ok "$apiserver_port" /readyz ||
    { tail -n 5 "$dir/etcd.log" >&2; return 1; }
  for part in "$@"; do "start_$part" "$binaries" "$dir"; done
  for part in "$@"; do
    case $part in
      scheduler) wait_until_ready kube-scheduler "$dir/kube-scheduler.log" 30 answers_ok "$scheduler_port" /healthz ;;
      controllers)
        wait_until_ready kube-controller-manager "$dir/kube-controller-manager.log" 30 answers_ok "$controllers_port" /healthz
        ;;
    esac || return 1
  done
  export KUBECONFIG=$dir/kubeconfig
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  if [ "${1:-}" != up ] || [ -z "${2:-}" ]; then echo "usage: $0 up DIR" >&2; exit 2; fi
  binaries=$("$controlplane_here/build.sh")
  trap stop_all_processes EXIT
  trap 'exit 0' INT TERM
  controlplane_up "$binaries" "$2" scheduler controllers kwok
  echo "export KUBECONFIG=$KUBECONFIG PATH=$binaries:\$PATH   # Ctrl-C ends the control plane"
  while is_running kube-apiserver; do sleep 1; done
  exit 1
fi
