"""An app is killed before each system call of a renewal. Whoever starts next is still logged in, and no user is lost."""

from __future__ import annotations

import itertools
import pathlib
import re
import subprocess

import mpin
import pytest
from session_fixtures import PIN, App, answer, say

#: Every call that an app makes for a renewal begins with what it reads from its standard input.
FIRST = "read"


def renew(app: App, *options: str) -> tuple[str, str]:
    """Has another process renew the tokens under strace, and returns what it has said and the trace."""
    trace = app.folder / "trace"
    with app.process() as child:
        strace = ["strace", "-f", "-o", str(trace), "-p", str(child.pid), *options]
        with subprocess.Popen(strace, stderr=subprocess.PIPE, text=True) as tracer:
            assert tracer.stderr and "attached" in tracer.stderr.readline()
            say(child, "renew")
            said = answer(child)
            child.kill()
            tracer.wait()
    return said, trace.read_text()


def system_calls(app: App) -> list[str]:
    said, trace = renew(app)
    assert said == "done"
    return sorted(set(re.findall(r"^\d+ +(\w+)\(", trace, re.MULTILINE)))


def test_killed_before_every_system_call(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    session = app.log_in()
    kills = 0
    calls = system_calls(app)
    assert {"flock", "fsync", "rename", "sendto"} <= set(calls) | {"renameat", "renameat2"}, calls
    for call in calls:
        for number in itertools.count(1):
            said, _ = renew(app, "-e", f"inject={call}:signal=KILL:when={number}")
            if said:
                break
            kills += 1
            # The provider accepts the refresh token that is stored, whether it has seen it or not.
            assert session.access_token() and session.state is mpin.SessionState.SIGNED_IN, (call, number)
            session.renew()
    app.pins = [PIN]
    session.login("app", app.user)
    assert not list(pathlib.Path(app.folder).glob("*.damaged-*"))
    with capsys.disabled():
        print(f"{kills} kills before {len(calls)} system calls")
