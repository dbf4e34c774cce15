# shellcheck shell=bash
# Processes of the tests: started in the background with a log each, waited for with a deadline, always ended.
# Sourced. Every process dies with the shell that started it (parent-death signal), so that not even kill -9 of a test
# leaves one behind; therefore start_process must not be called in a subshell.

declare -A process_pid=()   # name -> process id
process_order=()            # in order of starting; ended the other way round
declare -A taken_ports=()

# Sets free_port to a TCP port of 127.0.0.1 that nobody listens on, below the range that the kernel gives to clients.
# Not printed: a subshell would forget which ports were given out already.
free_port=0
pick_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 12000))
    [ -z "${taken_ports[$port]:-}" ] || continue
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
  done
  taken_ports[$port]=yes
  # shellcheck disable=SC2034  # read by those who source this file
  free_port=$port
}

start_process() { # name log command...
  local name=$1 log=$2
  shift 2
  setpriv --pdeathsig KILL -- "$@" >>"$log" 2>&1 </dev/null &
  process_pid[$name]=$!
  disown "$!" # else bash prints "Killed" in the middle of a report
  process_order+=("$name")
}

is_running() { [ -n "${process_pid[$1]:-}" ] && kill -0 "${process_pid[$1]}" 2>/dev/null; }

# Waits until the process is gone: its port must be free and its log complete afterwards.
stop_process() { # name [signal]
  local name=$1 signal=${2:-TERM} deadline=$((SECONDS + 20))
  is_running "$name" || return 0
  kill -s "$signal" "${process_pid[$name]}" 2>/dev/null || true
  while is_running "$name"; do
    if [ "$SECONDS" -ge "$deadline" ]; then kill -s KILL "${process_pid[$name]}" 2>/dev/null || true; fi
    sleep 0.05
  done
  unset "process_pid[$name]"
}

stop_all_processes() {
  local i
  for ((i = ${#process_order[@]} - 1; i >= 0; i--)); do stop_process "${process_order[i]}" "${1:-TERM}"; done
  process_order=()
}

# Runs the command until it succeeds. Fails when the deadline passes or the process that is waited for has ended, and
# then shows the end of its log.
wait_until_ready() { # name log seconds command...
  local name=$1 log=$2 seconds=$3 deadline=$((SECONDS + $3)) why
  shift 3
  until "$@" >/dev/null 2>&1; do
    why=""
    is_running "$name" || why="ended instead of becoming ready"
    [ "$SECONDS" -lt "$deadline" ] || why="is not ready after $seconds s (asked: $*)"
    if [ -n "$why" ]; then
      printf '%s %s; last lines of %s:\n' "$name" "$why" "$log" >&2
      tail -n 15 "$log" >&2
      return 1
    fi
    sleep 0.1
  done
}
