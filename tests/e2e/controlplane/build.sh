#!/usr/bin/env bash
# build.sh [VERSION]: VERSION is a folder of kubernetes/ (default: 1.36).
# Prints the folder that holds etcd, kube-apiserver, kube-scheduler, kube-controller-manager, kubectl, kwok and helm:
#   1. $KUBEBUILDER_ASSETS, if set (binaries got elsewhere; what is missing is named, and so is a version that is not VERSION);
#   2. the cache, ${XDG_CACHE_HOME:-~/.cache}/podium/controlplane/KEY, if a run before this one filled it;
#   3. else builds them from the Go modules beside this file (two cores: about five minutes) into that cache.
# KEY is the hash of the module files, the build options and the Go version: a changed pin is a new folder.
# Only the folder goes to standard output; progress and errors go to standard error.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

binaries=(etcd kube-apiserver kube-scheduler kube-controller-manager kubectl kwok helm)
needed_go=1.26
asked=${1:-}
minor=${asked:-1.36}
module=kubernetes/$minor

say() { printf '%s\n' "$*" >&2; }
die() { printf 'controlplane: %s\n' "$*" >&2; exit 1; }

require_version() {
  local known
  known=$(cd "$here/kubernetes" && printf '%s\n' * | paste -sd ' ')
  [ -f "$here/$module/go.mod" ] || die "Kubernetes '$minor' is not known; allowed: $known"
  kubernetes_version=$(sed -n 's/^[[:space:]]*k8s.io\/kubernetes \(v[0-9.]*\).*/\1/p' "$here/$module/go.mod")
  # Without these the API server reports version 0.0 and the scheduler's feature set cannot be told from it.
  version_flags="-X k8s.io/component-base/version.gitVersion=$kubernetes_version \
-X k8s.io/component-base/version.gitMajor=${minor%.*} -X k8s.io/component-base/version.gitMinor=${minor#*.}"
}

missing_in() { # folder -> the names of the binaries that are not there
  local name
  for name in "${binaries[@]}"; do [ -x "$1/$name" ] || printf '%s ' "$name"; done
}

from_assets() {
  local missing
  missing=$(missing_in "$KUBEBUILDER_ASSETS")
  [ -z "$missing" ] || die "KUBEBUILDER_ASSETS=$KUBEBUILDER_ASSETS lacks: $missing
  etcd, kube-apiserver and kubectl come with setup-envtest; kube-scheduler, kube-controller-manager, kwok and helm are on their
  projects' release pages. Or unset KUBEBUILDER_ASSETS: all of them are then built from source with Go $needed_go."
  local found
  found=$("$KUBEBUILDER_ASSETS/kube-apiserver" --version)
  [ -z "$asked" ] || [[ $found == "Kubernetes v$asked."* ]] ||
    die "KUBEBUILDER_ASSETS=$KUBEBUILDER_ASSETS holds $found; wanted: Kubernetes $asked"
  printf '%s\n' "$KUBEBUILDER_ASSETS"
}

# The go command, checked: the modules name their Go version, and an older go cannot build them.
require_go() {
  local how="install Go $needed_go or newer (https://go.dev/doc/install; Debian 12's own package golang is 1.19, too old) and put
  its bin folder into PATH, or set KUBEBUILDER_ASSETS to a folder with: ${binaries[*]}"
  command -v go >/dev/null || die "the end-to-end tests build a real Kubernetes control plane, but there is no go command.
  To go on: $how"
  local found
  found=$(go version | sed 's/.* go\([0-9.]*\).*/\1/')
  [ "$(printf '%s\n%s\n' "$needed_go" "$found" | sort -V | head -n 1)" = "$needed_go" ] ||
    die "the end-to-end tests build a real Kubernetes control plane with Go $needed_go; found $found.
  To go on: $how"
}

cache_key() {
  { cat "$here/$module"/go.{mod,sum} "$here"/kwok/go.{mod,sum} "$here"/helm/go.{mod,sum}
    printf '%s\n' "$version_flags" "$(go env GOVERSION GOOS GOARCH)"; } | sha256sum | cut -d' ' -f1
}

build_module() { # module-folder output package what ldflags
  local started=$SECONDS
  say "controlplane: building $4"
  (cd "$here/$1" && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w $5" -o "$2" "$3") ||
    die "building $4 failed; the compiler's message is above (the modules come from the Go module proxy: go env GOPROXY)"
  say "controlplane: built $4 in $((SECONDS - started)) s"
}

build_into() { # cache folder
  local target=$1 work
  work=$(mktemp -d "$target.building.XXXXXX")
  # shellcheck disable=SC2064  # the folder is known now
  trap "rm -rf '$work'" EXIT
  say "controlplane: building Kubernetes $kubernetes_version, etcd, kwok and helm once (two cores: about five minutes) for $target"
  build_module "$module" "$work/etcd" go.etcd.io/etcd/server/v3 etcd ""
  local command
  for command in kube-apiserver kube-controller-manager kube-scheduler kubectl; do
    build_module "$module" "$work/$command" "k8s.io/kubernetes/cmd/$command" "$command" "$version_flags"
  done
  build_module kwok "$work/kwok" sigs.k8s.io/kwok/cmd/kwok kwok ""
  build_module helm "$work/helm" helm.sh/helm/v4/cmd/helm helm ""
  mv "$work" "$target" # a rename: whoever looks meanwhile sees all binaries or none
  trap - EXIT
}

main() {
  require_version
  if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then from_assets; return; fi
  require_go
  local cache target
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/podium/controlplane
  target=$cache/$(cache_key)
  mkdir -p "$cache"
  exec 9>"$cache/.lock"
  flock -n 9 || { say "controlplane: another run is building; waiting for it"; flock 9; }
  rm -rf "$cache"/*.building.* # left by a run that was killed
  if [ -z "$(missing_in "$target")" ]; then printf '%s\n' "$target"; return; fi
  rm -rf "$target"
  build_into "$target"
  printf '%s\n' "$target"
}

main "$@"
