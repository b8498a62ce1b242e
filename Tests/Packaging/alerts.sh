#!/usr/bin/env bash
# Tests the alerts for Prometheus: promtool reads them, each fires when it should, and all metrics in them exist.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=Tests/ok.sh
. "$root/Tests/ok.sh"
rules=$root/Sources/Packaging/prometheus/mpind-alerts.yaml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
promtool check rules --lint=all --lint-fatal "$rules"
ok "promtool reads the alerts"
sed "s|alerts-under-test.yaml|$rules|" "$root/Tests/Packaging/alerts.yaml" >"$work/tests.yaml"
promtool test rules "$work/tests.yaml"
while read -r alert; do
    [ "$(grep -cw "alertname: $alert" "$root/Tests/Packaging/alerts.yaml")" -eq 2 ] || { echo "$alert: no test" && exit 1; }
done < <(sed -n 's/.*- alert: //p' "$rules")
ok "each alert fires when it should, and not on a quiet day"
metrics=$root/Sources/MPinServer/Metrics/MetricFamily.swift
grep -v '^ *#' "$rules" | grep -oE 'mpin_[a-z_]+' | sed 's/_bucket$//' | sort -u | while read -r metric; do
    grep -qF "\"$metric\"" "$metrics" || { echo "$metric: mpind has no such metric" && exit 1; }
done
ok "mpind has all metrics in the alerts"
echo "$passed passed"
