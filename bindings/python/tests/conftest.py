import contextlib
import json
import os
import pathlib
import re
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

import mpin
from ports import free_ports

ROOT = pathlib.Path(__file__).parents[3]


def header(name: str) -> str:
    """A header of the library without its comments."""
    return re.sub(r"/\*.*?\*/", "", (ROOT / "include" / name).read_text(), flags=re.DOTALL)


def vectors() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((ROOT / "Tests/Vectors/bn254cx-mpin.json").read_text())["vectors"]
    return found


def trust_vectors() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((ROOT / "Tests/Vectors/bn254cx-trust.json").read_text())["vectors"]
    return found


@pytest.fixture
def sdk(tmp_path: pathlib.Path) -> Iterator[mpin.SDK]:
    """A client without a backend."""
    with mpin.SDK(tmp_path / "store") as made:
        yield made


def wait_until_ready(process: "subprocess.Popen[bytes]", url: str) -> None:
    for _ in range(600):
        assert process.poll() is None, "mpind has ended"
        try:
            urllib.request.urlopen(f"{url}/rps/clientSettings", timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("mpind did not start")


@contextlib.contextmanager
def serve(folder: pathlib.Path, *more: str) -> Iterator[str]:
    """The base URL of a real server with its state in `folder` and its mails in `folder`/mail."""
    ports = free_ports(4)
    url = f"http://127.0.0.1:{ports[0]}"
    options = ("--port", "--private-port", "--dta1-port", "--dta2-port")
    program = os.environ.get("MPIND", str(ROOT / "build/mpind"))
    command = [program, "--all-in-one", "--rate-limits", "off", *more]
    command += ["--state-dir", str(folder / "state"), "--mail-dir", str(folder / "mail"), "--public-url", url]
    command += [text for option, port in zip(options, ports) for text in (option, str(port))]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stderr=log) as process:
        try:
            wait_until_ready(process, url)
            yield url
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that confirms every registration at once."""
    with serve(tmp_path_factory.mktemp("mpind"), "--force-activate") as url:
        yield url
