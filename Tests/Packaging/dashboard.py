#!/usr/bin/env python3
"""Checks the Grafana dashboard: promtool parses every query, and each metric, and each label that a query names, is one
that a running mpind shows.

The last line is "N passed".
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "EndToEnd"))
from node import PIN, ROOT, Server, accepted, registered
from ports import free_ports

DASHBOARD = ROOT / "Sources/Packaging/grafana/mpind-dashboard.json"
#: What Grafana puts in the place of its variables.
VALUES = {"$__rate_interval": "5m", "$__interval": "1m", "$instance": ".*"}
#: The labels that Prometheus adds, and that of a histogram's buckets.
ADDED = {"instance", "job", "le"}


def targets(panels: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """Returns title, query and legend of all panels, with Grafana's variables replaced."""
    found = []
    for panel in panels:
        found += targets(panel.get("panels", []))
        for target in panel.get("targets", []):
            query = target["expr"]
            for name, value in VALUES.items():
                query = query.replace(name, value)
            assert "$" not in query, f"{panel['title']}: a variable that is not known: {query}"
            found.append((panel["title"], query, target["legendFormat"]))
    return found


def parse(queries: list[str], folder: Path) -> None:
    """Has promtool parse the queries, as rules."""
    rules = [{"record": f"q{number}", "expr": query} for number, query in enumerate(queries)]
    file = folder / "rules.yaml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    done = subprocess.run(["promtool", "check", "rules", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and f"{len(queries)} rules found" in done.stdout, done.stdout + done.stderr


def exported(folder: Path) -> dict[str, set[str]]:
    """Starts a server, logs in, and returns the names of all its metrics with their labels."""
    [port] = free_ports(1)
    server = Server(folder, options=["--admin-listen", f"127.0.0.1:{port}"])
    try:
        server.start()
        phone = registered(server, "dashboard@example.com")
        phone.login(PIN)
        assert not accepted(lambda: phone.login("4321"))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
            text = answer.read().decode()
    finally:
        server.kill()
    return shown(text)


def shown(text: str) -> dict[str, set[str]]:
    """The metrics of an answer, and the labels of those that have values."""
    found: dict[str, set[str]] = {}
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        for end in ["_bucket", "_sum", "_count"] if kind == "histogram" else [""]:
            found[name + end] = set()
    for name, labels in re.findall(r"^([a-z_]+)(\{.*\})? \S+$", text, re.MULTILINE):
        found[name] |= set(re.findall(r'[{,]([a-z]+)="', labels))
    return found


def labels(query: str, legend: str) -> set[str]:
    """The labels that a query selects or groups by, and those that its legend shows."""
    texts = re.findall(r"\bby \(([^)]*)\)", query)
    used = {name.strip() for text in texts for name in text.split(",")}
    return used | set(re.findall(r"([a-z]+)\s*(?:=~|!~|!=|=)\s*\"", query)) | set(re.findall(r"\{\{(\w+)\}\}", legend))


def documented(name: str) -> set[str]:
    """The labels that the table of metrics gives to a metric that has no values yet."""
    text = (ROOT / "Sources/MPinServer/Metrics/MetricFamily.swift").read_text()
    [case] = re.findall(rf'case (\w+) = "{name}"', text)
    rows = re.findall(r"case (.+): \[(.*)\]", text.partition("var labels:")[2].partition("var buckets:")[0])
    [row] = [row for cases, row in rows if f".{case}" in cases.split(", ")]
    return set(re.findall(r'"(\w+)"', row))


def main() -> int:
    dashboard = json.loads(DASHBOARD.read_text())
    found = targets(dashboard["panels"])
    with tempfile.TemporaryDirectory() as folder:
        parse([query for _, query, _ in found], Path(folder))
        print(f"ok: promtool parses all {len(found)} queries")
        there = exported(Path(folder) / "server")
    [variable] = [each for each in dashboard["templating"]["list"] if each["name"] == "instance"]
    used = set(re.findall(r"mpin_\w+", variable["definition"]))
    for title, query, legend in found:
        names = re.findall(r"\b(?:mpin|up)[a-z_]*(?=\{)", query)
        assert names, f"{title}: a query without a metric: {query}"
        for name in (name for name in names if name != "up"):
            assert name in there, f"{title}: mpind shows no {name}"
            used.add(name)
            known = (there[name] or documented(re.sub("_(bucket|sum|count)$", "", name))) | ADDED
            assert labels(query, legend) <= known, f"{title}: {name} has no {labels(query, legend) - known}"
    assert used <= set(there), used - set(there)
    print(f"ok: a running mpind shows all {len(used)} metrics in them, with these labels")
    missing = {re.sub("_(bucket|sum|count)$", "", name) for name in there} - {
        re.sub("_(bucket|sum|count)$", "", name) for name in used
    }
    assert not missing, f"no panel shows {missing}"
    print("ok: the dashboard shows all metrics of mpind")
    identifiers = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(identifiers)) == len(identifiers), "two panels have the same number"
    print("ok: each panel has a number of its own")
    print("4 passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
