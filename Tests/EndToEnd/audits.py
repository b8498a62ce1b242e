"""The audit logs of nodes: each verified by itself or all together, and what they say of logins."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

from node import PROGRAM, Server


def mpind(*words: str, program: Path = PROGRAM) -> str:
    """Runs a command of mpind and returns its output."""
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def audit(node: Server) -> list[str]:
    """The options for the audit log of a node."""
    name = f"{node.folder.parent.name}-{node.folder.name}"
    return ["--audit-log", f"{node.folder}/audit/{name}.jsonl", "--audit-key-file", f"{node.state}/audit.key"]


def make_audit(node: Server) -> None:
    """Makes the folder of a node's audit log, and the key, which all nodes share."""
    (node.folder / "audit").mkdir()
    mpind("keys", "new", "--keep", f"{node.state}/audit.key")


def chains_are_whole(nodes: list[Server]) -> int:
    """Verifies the audit log of each node. Returns the number of lines."""
    lines = 0
    for node in nodes:
        said = json.loads(mpind("audit", "verify", *audit(node), "--json").splitlines()[-1])
        assert said["findings"] == said["unseen"] == 0, said
        lines += said["good"]
    return lines


def are_whole_together(folder: Path, nodes: list[Server], database: str) -> int:
    """Verifies the audit logs of all nodes of a database by what this knows of them. folder: a new one. Returns the number of
    lines."""
    words = ["--database", database]
    for node in nodes:
        place = folder / node.folder.name
        (place / "audit").mkdir(parents=True)
        log, key = (Path(word) for word in audit(node)[1::2])
        # Links, not copies: the nodes go on writing, and what the database knows is read first.
        head = key.with_name(log.name + ".head")
        for file, name in [(log, "audit/audit.jsonl"), (key, "audit.key"), (head, "audit.jsonl.head")]:
            os.link(file, place / name)
        words += ["--server", str(place)]
    said = [json.loads(line) for line in mpind("audit", "verify", "--all", *words, "--json").splitlines()]
    assert len(said) == len(nodes), said
    assert all(log["findings"] == log["unseen"] == 0 < log["good"] for log in said), said
    return sum(log["good"] for log in said)


def logins(node: Server) -> dict[str, Counter[int]]:
    """How many lines for logins a node's audit log has, by users and statuses."""
    found: dict[str, Counter[int]] = {}
    for line in Path(audit(node)[1]).read_text().splitlines():
        # The last line may be half written.
        if '"event":"login"' in line and line.endswith("}"):
            known = json.loads(line)
            found.setdefault(known.get("user", ""), Counter())[int(known["status"])] += 1
    return found
