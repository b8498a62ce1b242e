"""Follows "Five minutes" of docs/openid.md with its own lines. Only the ports differ, the packages of the website are
installed already, and a program reads the access number from the page."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests
from phone import wait_until
from ports import free_ports
from relying_party import Person

ROOT = Path(__file__).resolve().parents[2]
PIN = "1234"
#: The text says that this stands for the number on the page.
NUMBER = "482913"


def blocks() -> list[str]:
    """Returns the blocks of commands in the section."""
    document = (ROOT / "docs/openid.md").read_text()
    section = document.partition("\n## Five minutes\n")[2].partition("\n### ")[0]
    return [text.replace("\\\n", "") for text in re.findall(r"```sh\n(.*?)```", section, re.DOTALL)]


class Guide:
    """A folder like the one of the sources, in which the commands run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bindings").symlink_to(ROOT / "bindings")
        (folder / "venv").symlink_to(ROOT / "build/oidc-venv")
        self.port, self.site, *others = free_ports(5)
        names = ("--port", "--private-port", "--dta1-port", "--dta2-port")
        self.ports = " ".join(f"{name} {port}" for name, port in zip(names, [self.port, *others]))
        self.running: list[subprocess.Popen[bytes]] = []

    def command(self, block: str) -> str:
        lines = [line for line in block.splitlines() if not re.match(r"python3 -m venv|venv/bin/pip ", line)]
        text = "\n".join(lines).replace("127.0.0.1:8005", f"127.0.0.1:{self.port}")
        return text.replace("127.0.0.1:3000", f"127.0.0.1:{self.site}").replace("--port 3000", f"--port {self.site}")

    def start(self, command: str) -> None:
        with (self.folder / "log").open("ab") as log:
            self.running.append(
                subprocess.Popen(["bash", "-c", "exec " + command], cwd=self.folder, env=self.env, stdout=log, stderr=log)
            )

    def run(self, command: str, typed: str = "") -> str:
        done = subprocess.run(
            ["bash", "-euc", command], cwd=self.folder, env=self.env, input=typed, capture_output=True, text=True,
            timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @property
    def env(self) -> dict[str, str]:
        return {**os.environ, "PATH": f"{ROOT / 'build'}:{os.environ['PATH']}"}

    def answers(self, url: str) -> bool:
        assert all(process.poll() is None for process in self.running), (self.folder / "log").read_text()
        try:
            return requests.get(url).ok
        except requests.ConnectionError:
            return False


@pytest.fixture
def guide(tmp_path: Path) -> Iterator[Guide]:
    guide = Guide(tmp_path)
    yield guide
    for process in reversed(guide.running):
        process.terminate()
        process.wait(60)


def test_five_minutes(guide: Guide) -> None:
    server, client, site, register, login = map(guide.command, blocks())
    backend, shop = f"http://127.0.0.1:{guide.port}", f"http://127.0.0.1:{guide.site}"
    guide.start(f"{server.strip()} {guide.ports}")
    wait_until(lambda: guide.answers(f"{backend}/.well-known/openid-configuration"))
    assert "redirect-uri: " + shop in guide.run(client)
    assert site.startswith("ISSUER=")
    guide.start("env " + site)
    wait_until(lambda: guide.answers(shop))
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(guide.run, register.strip() + " --pin-fd 0", PIN + "\n")
        mail = wait_until(lambda: list((guide.folder / "state/mail").glob("*.eml")))[0]
        link = re.findall(r"^(http\S+mpinActivate\S+)", mail.read_text(), re.MULTILINE)[0].strip()
        assert requests.post(link).status_code == 200
        done.result()
    # The browser keeps the cookies of both sites, which differ only by their ports.
    person = Person(backend, None, PIN)
    begun = person.browser.get(f"{shop}/login", allow_redirects=False)
    assert person.open(begun.headers["Location"]).status_code == 200
    person.show_number()
    number = person.shown_code()
    assert NUMBER in login, "the command has another access number than the text before it"
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(guide.run, login.strip().replace(NUMBER, number) + " --pin-fd 0", PIN + "\n")
        person.await_phone(phone=done)
        person.press("/authorize/login")
        back = person.press("/authorize/confirm", step="confirmation", answer="yes")
        done.result()
    assert back.status_code == 303 and back.headers["Location"].startswith(f"{shop}/callback?")
    assert "Welcome, you@example.com" in person.browser.get(back.headers["Location"]).text
