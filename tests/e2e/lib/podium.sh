# shellcheck shell=bash
# shellcheck disable=SC2154  # lower-case globals are set by run.sh
# The webhook under test: start, registration, its audit log. Sourced.

start_podium() { # port operations-port
  start_process podium "$work/podium.log" "$podium" serve --policy "$root/policies/default.yaml" --own-namespace podium-system \
    --cert-file "$work/certs/tls.crt" --key-file "$work/certs/tls.key" --listen "127.0.0.1:$1" \
    --operations-listen "127.0.0.1:$2" --audit-log "$work/podium-audit.jsonl" --audit-mode strict
  wait_until_ready podium "$work/podium.log" 15 curl -sf "http://127.0.0.1:$2/readyz"
}

webhook_configuration() { # name url ca-file
  sed -e "s|@REINVOCATION@|${REINVOCATION:-Never}|" -e "s|@NAME@|$1|g" -e "s|@URL@|$2|g" -e "s|@CA@|$(base64 -w0 <"$3")|g" "$(manifest webhooks.yaml)"
}

# The API server learns of a configuration a moment later: done when a creation calls both webhooks.
register_webhook() { # name url ca-file
  webhook_configuration "$@" | k apply -f - >/dev/null
  eventually 20 "both webhooks are called" yes are_both_called "$1"
}

remove_webhook() { # name
  k delete mutatingwebhookconfiguration,validatingwebhookconfiguration "$1" --ignore-not-found >/dev/null
  eventually 20 "both webhooks are called" no are_both_called "$1"
}

are_both_called() { # name -> yes, no, or half
  local before after
  before=$(webhook_calls "$1")
  pod_manifest default probe "" 0 | k create --dry-run=server -f - >/dev/null
  after=$(webhook_calls "$1")
  case $((after - before)) in
    0) echo no ;;
    1) echo half ;;
    *) echo yes ;;
  esac
}

apiserver_metrics() { k get --raw /metrics; }

# How often the API server has called both webhooks of a configuration, by its own count.
webhook_calls() { # name
  apiserver_metrics | awk -v name="$1" '
    index($0, "apiserver_admission_webhook_request_total{") == 1 && index($0, "." name "\"") { calls += $NF }
    END { print calls + 0 }'
}

# --- the audit log (docs/audit-format.md) ---

audit_lines() { wc -l <"$work/podium-audit.jsonl"; }

# Prints what the jq filter says of the lines that match, as compact JSON.
audit() { # jq-condition [jq-result]
  jq -c "select($1) | ${2:-.}" "$work/podium-audit.jsonl"
}

audit_count() { audit "$1" | wc -l; }
