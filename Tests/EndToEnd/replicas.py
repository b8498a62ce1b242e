"""A D-TA as two processes with the same share, behind one URL: each of them may be killed, and the master secret can be
rotated."""

from __future__ import annotations

import csv
import datetime
import signal
import socket
import subprocess
from pathlib import Path

from node import PIN, ROOT
from phone import Phone, wait_until
from ports import free_ports
from split import Split

NAMES = ["dta1", "dta1-copy"]


class Replicated(Split):
    """A server in parts whose D-TA 1 has two replicas, behind the lines for haproxy of docs/operating.md."""

    def _start_authorities(self) -> None:
        self._ports = dict(zip(NAMES, free_ports(len(NAMES)), strict=True))
        self._front = subprocess.Popen(["haproxy", "-q", "-f", self._haproxy()])
        self._start("dta2", *self._authority("dta2", self._dta2))
        self.start_replica(NAMES[0])
        # The first start makes the share. The other replica gets a copy before its first start.
        self.copy(NAMES[0], NAMES[1])
        self.start_replica(NAMES[1])

    def start_replica(self, name: str) -> None:
        """Starts a replica that does not run, and waits until haproxy has noticed both."""
        wait_until(lambda: self._state(name) == "DOWN")
        options = self._authority("dta1", self._ports[name])
        options[options.index("--database") + 1] = self.file(name)
        self._start(name, *options)
        wait_until(lambda: self._state(name) == "UP")

    def kill_replica(self, name: str) -> None:
        part = self._parts.pop(name)
        part.send_signal(signal.SIGKILL)
        part.wait(60)

    def copy(self, source: str, target: str) -> None:
        """Copies the shares of one replica to another, which does not run."""
        backup = self._folder / "copied.sqlite"
        self._command("backup", "--database", self.file(source), str(backup))
        if Path(self.file(target)).exists():
            self._command("restore", "--database", self.file(target), "--key-file", self._key("dta1"), str(backup))
        else:
            backup.rename(self.file(target))
        backup.unlink(missing_ok=True)

    def rotate(self, name: str, authority: str) -> None:
        """Makes a new share; the old one is served for another year."""
        end = datetime.date.today() + datetime.timedelta(days=365)
        key = ["--key-file", self._key(authority)]
        self._command("dta", "rotate", "--database", self.file(name), *key, "--serve-old-until", end.isoformat())

    def shares(self, name: str) -> list[str]:
        """The lines about each share of a replica."""
        said = self._command("dta", "shares", "--database", self.file(name), "--key-file", self._key("dta1"))
        return [line.partition(": ")[2] for line in said.splitlines()]

    def restart_service(self) -> None:
        """Starts the RPS again, which then asks the D-TAs for their shares at once."""
        self._parts["rps"].send_signal(signal.SIGTERM)
        assert self._parts["rps"].wait(60) == 0
        self._start("rps", *self._service())
        wait_until(self._answers)

    def file(self, name: str) -> str:
        return str(self._folder / f"{name}.sqlite")

    def kill(self) -> None:
        super().kill()
        self._front.kill()
        self._front.wait()

    def _haproxy(self) -> Path:
        _, _, rest = (ROOT / "docs/operating.md").read_text().partition("```haproxy\n")
        text = rest.partition("```")[0].replace("bind :8001", f"bind 127.0.0.1:{self._dta1}")
        for number, port in enumerate(self._ports.values(), 1):
            text = text.replace(f"10.0.1.1{number}:8001", f"127.0.0.1:{port}")
        assert text.count("127.0.0.1") == 1 + len(NAMES), text
        waits = "defaults\n    timeout connect 2s\n    timeout client 60s\n    timeout server 60s\n"
        file = self._folder / "haproxy.cfg"
        file.write_text(f"global\n    stats socket {self._folder}/haproxy.socket\n{waits}{text}")
        return file

    def _state(self, name: str) -> str:
        """Whether haproxy sends requests to a replica: UP or DOWN."""
        part = self._parts.get(name)
        assert part is None or part.poll() is None, f"{name} has ended: {self.log_text()[-500:]}"
        with socket.socket(socket.AF_UNIX) as admin:
            try:
                admin.connect(str(self._folder / "haproxy.socket"))
            except OSError:
                return "?"
            admin.sendall(b"show stat\n")
            text = b"".join(iter(lambda: admin.recv(65536), b"")).decode()
        rows = csv.DictReader(text.removeprefix("# ").splitlines())
        return next(row["status"] for row in rows if row["svname"] == name)

    def _command(self, *words: str) -> str:
        done = subprocess.run([ROOT / "build/mpind", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


def registered(server: Split, user: str) -> Phone:
    return Phone(server.backend, user).register(PIN)


def replicas(folder: Path) -> str:
    """Kills each replica of a D-TA: people register and log in with what the other gives them. Then rotates the master
    secret as docs/operating.md says: old and new identities log in, whichever replica is asked."""
    server = Replicated(folder / "replicas")
    try:
        assert server.shares(NAMES[0]) == server.shares(NAMES[1])
        phones = [registered(server, "both@example.com")]
        for name in NAMES:
            server.kill_replica(name)
            phones.append(registered(server, f"without-{name}@example.com"))
            for phone in phones:
                phone.login(PIN)
            server.start_replica(name)
        server.kill_replica(NAMES[1])
        server.rotate(NAMES[0], "dta1")
        server.copy(NAMES[0], NAMES[1])
        server.start_replica(NAMES[1])
        server.rotate("dta2", "dta2")
        server.restart_service()
        assert len(server.shares(NAMES[1])) == 2 and server.shares(NAMES[0]) == server.shares(NAMES[1])
        for name in NAMES:
            server.kill_replica(name)
            phones.append(registered(server, f"rotated-without-{name}@example.com"))
            for phone in phones:
                phone.login(PIN)
            server.start_replica(name)
        server.end()
    finally:
        server.kill()
    return f"{len(phones)} registrations, each replica of D-TA 1 killed before and after a rotation, no login failed"
