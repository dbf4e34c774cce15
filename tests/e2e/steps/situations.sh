# shellcheck shell=bash
# shellcheck disable=SC2154  # lower-case globals are set by run.sh
# Random clusters, random pods: does the running kube-scheduler do what `podium feasibility` said it would? Comes first,
# while there is neither a node nor a webhook: each situation is a cluster of its own.

check_situations() {
  local said=$work/situations.log
  check "situations: the scheduler does what podium feasibility says" play_situations "$said"
  [ ! -f "$said" ] || tail -n 1 "$said" | sed 's/^/        /'
}

play_situations() { # log
  local again="./dev e2e${kubernetes[*]:+ --kubernetes ${kubernetes[*]}} --situations"
  python3 -B "$e2e/situations/situations.py" --controlplane "$work" --apiserver-port "$apiserver_port" \
    --scheduler-port "$scheduler_port" --podium "$podium" --again "$again" "${situation_arguments[@]}" 2>&1 | tee "$1"
}
