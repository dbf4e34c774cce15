#!/usr/bin/env bash
# Makes a throw-away CA and a server certificate for a Podium on this machine:
#   certs/dev-certs.sh DIR [NAME...]   -> DIR/ca.crt, DIR/tls.crt, DIR/tls.key
# NAME: further DNS names or IP addresses (127.0.0.1, ::1 and localhost are always in it).
# Keeps what is there while it is valid for another day and covers the names; nothing secret is printed.
set -euo pipefail
dir=${1:?usage: certs/dev-certs.sh DIR [NAME...]}
shift
here=$(cd "$(dirname "$0")" && pwd)
umask 077
mkdir -p "$dir"

san="DNS:localhost,IP:127.0.0.1,IP:::1"
for name in "$@"; do
  case $name in
    *[!0-9A-Za-z.:-]*) echo "dev-certs: '$name' is neither a DNS name nor an IP address" >&2; exit 2 ;;
    *:* | [0-9]*.[0-9]*.[0-9]*.[0-9]*) san+=",IP:$name" ;;
    *) san+=",DNS:$name" ;;
  esac
done

still_good() {
  [ "$(cat "$dir/san" 2>/dev/null)" = "$san" ] && [ -s "$dir/tls.key" ] &&
    openssl x509 -in "$dir/tls.crt" -noout -checkend 86400 >/dev/null 2>&1 &&
    openssl verify -CAfile "$dir/ca.crt" "$dir/tls.crt" >/dev/null 2>&1
}
if still_good; then exit 0; fi

# Written aside and renamed: a server that reads meanwhile never meets a half pair.
work=$(mktemp -d "$dir/.new.XXXXXX")
trap 'rm -rf "$work"' EXIT
export PODIUM_SAN=$san
openssl req -x509 -config "$here/openssl.cnf" -extensions dev_ca -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc \
  -keyout "$work/ca.key" -out "$work/ca.crt" -days 30 -subj "/CN=podium development CA" 2>/dev/null
openssl req -new -config "$here/openssl.cnf" -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc \
  -keyout "$work/tls.key" -out "$work/tls.csr" -subj "/CN=podium" 2>/dev/null
openssl x509 -req -in "$work/tls.csr" -CA "$work/ca.crt" -CAkey "$work/ca.key" -CAcreateserial -days 29 \
  -extfile "$here/openssl.cnf" -extensions dev_server -out "$work/tls.crt" 2>/dev/null
printf %s "$san" >"$work/san"
# The CA key is not kept: nobody can sign with it later.
for file in ca.crt tls.key tls.crt san; do mv "$work/$file" "$dir/$file"; done
