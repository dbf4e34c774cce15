#!/usr/bin/env bash
# Requests per second, latency and CPU per request of the server over TLS keep-alive, the same bodies for all:
#   nginx     answers a constant
#   engine    Podium's engine answers the same constant
#   podium    `podium serve`: decision with injection, audit line in strict mode
# Rounds are interleaved, so that whatever else the machine does meets all three; figures are medians of the rounds.
# Usage: tests/bench/bench_http.sh     (BENCH_ROUNDS=5 BENCH_SECONDS=4 BENCH_CONNECTIONS="4 32 128"
#                                       BENCH_LAYOUT=shared|pinned: see servers.sh)
# shellcheck source=tests/bench/servers.sh
source "$(dirname "$0")/servers.sh"

rounds=${BENCH_ROUNDS:-5}
seconds=${BENCH_SECONDS:-4}
read -r -a connections <<<"${BENCH_CONNECTIONS:-4 32 128}"

start_nginx() {
  nginx_port=$(free_port)
  cat >"$work/nginx.conf" <<CONF
worker_processes $workers;
daemon off;
pid $work/nginx.pid;
error_log stderr warn;
events { worker_connections 1024; accept_mutex off; multi_accept off; }
http {
  access_log off;
  client_body_temp_path $work/nginx-body;
  server {
    listen 127.0.0.1:$nginx_port ssl reuseport;
    ssl_certificate $work/certs/tls.crt;
    ssl_certificate_key $work/certs/tls.key;
    ssl_protocols TLSv1.2 TLSv1.3;
    keepalive_requests 1000000000;
    client_body_buffer_size 64k;
    default_type application/json;
    location / { return 200 '$(tr -d '\n' <"$work/answer.json")'; }
  }
}
CONF
  "${on_server_core[@]}" "$(PATH=$PATH:/usr/sbin command -v nginx)" -c "$work/nginx.conf" -p "$work" &
  local master=$!
  servers+=("$master")
  wait_for_port "$nginx_port" "$master"
  nginx_pids=$(pgrep -d " " -P "$master")
}

start_engine() {
  engine_port=$(free_port)
  "${on_server_core[@]}" "$engine_constant" "$work/certs/tls.crt" "$work/certs/tls.key" "$engine_port" "$work/answer.json" "$workers" &
  engine_pid=$!
  servers+=("$engine_pid")
  wait_for_port "$engine_port" "$engine_pid"
}

cpu_microseconds() { # of processes with all their threads: field 1 of schedstat is nanoseconds on a CPU
  for pid in "$@"; do cat /proc/"$pid"/task/*/schedstat; done | awk '{sum += $1} END {printf "%d", sum / 1000}'
}

measure() { # name port connections pid...: appends "name connections rps p50 p99 cpu_per_request"
  local name=$1 port=$2 c=$3 before after result requests microseconds p50 p99 failed
  shift 3
  before=$(cpu_microseconds "$@")
  result=$(load "$port" "$c" "$seconds")
  after=$(cpu_microseconds "$@")
  read -r requests microseconds p50 p99 failed <<<"$result"
  [ "${requests:-0}" -gt 0 ] || die "$name at $c connections answered nothing"
  [ "$failed" = 0 ] || die "$name at $c connections: $failed requests failed"
  awk -v name="$name" -v c="$c" -v n="$requests" -v us="$microseconds" -v p50="$p50" -v p99="$p99" -v cpu=$((after - before)) \
    'BEGIN {printf "%s %d %.0f %d %d %.1f\n", name, c, n * 1e6 / us, p50, p99, cpu / n}' >>"$work/figures"
}

report() {
  awk '
    function median(list, count,   i, j, t) {
      for (i = 2; i <= count; i++)
        for (j = i; j > 1 && list[j] < list[j - 1]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
      return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
    }
    function of(name, c, field,   i, list) {
      for (i = 1; i <= count[name, c]; i++) list[i] = figure[name, c, i, field]
      return median(list, count[name, c])
    }
    { i = ++count[$1, $2]; for (f = 3; f <= 6; f++) figure[$1, $2, i, f] = $f; if (!seen[$2]++) order[++sizes] = $2 }
    END {
      printf "%-12s %-8s %10s %10s %10s %12s %10s\n", "connections", "server", "req/s", "p50 us", "p99 us", "CPU us/req", "of nginx"
      split("nginx engine podium", names, " ")
      for (s = 1; s <= sizes; s++)
        for (n = 1; n <= 3; n++) {
          c = order[s]; name = names[n]
          printf "%-12s %-8s %10.0f %10.0f %10.0f %12.1f %10.2f\n", c, name, of(name, c, 3), of(name, c, 4), of(name, c, 5),
            of(name, c, 6), of(name, c, 3) / of("nginx", c, 3)
        }
    }' "$work/figures"
}

require nginx wrk curl openssl taskset pgrep python3
[ -x "$engine_constant" ] || die "$engine_constant is not built: cmake --build <build> --target bench"
"$root/certs/dev-certs.sh" "$work/certs"
start_podium
check_injection
review "$podium_port" "${bodies[0]}" >"$work/answer.json" # the constant is a real answer, so all three send as much
start_nginx
start_engine

echo "bench http: $rounds rounds of $seconds s for each cell, medians; layout $layout, $workers worker(s)"
for _ in $(seq "$rounds"); do
  for c in "${connections[@]}"; do
    # shellcheck disable=SC2086  # several process ids
    measure nginx "$nginx_port" "$c" $nginx_pids
    measure engine "$engine_port" "$c" "$engine_pid"
    measure podium "$podium_port" "$c" "$podium_pid"
  done
done
report
echo "audit: $(wc -l <"$work/audit.jsonl") lines written; targets at 32 and 128 connections: engine 0.75, podium 0.60"
