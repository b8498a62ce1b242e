"""Tests that two test programs never get the same port: `ports.py` keeps its ports while its output is open."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ports


def test_a_port_is_kept_until_its_reader_ends() -> None:
    with subprocess.Popen([sys.executable, ports.__file__, "1"], stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        port = int(program.stdout.readline())
        with pytest.raises(subprocess.TimeoutExpired):
            program.wait(timeout=1)
        with pytest.raises(OSError):
            ports.claim(port)
        program.stdout.close()
        assert program.wait() == 0
    ports.claim(port)
