"""A real mpind with all its parts, and the results of mpin-load for it."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any

from phone import Phone, Refused, wait_until
from ports import free_ports

ROOT = Path(__file__).resolve().parents[2]
PIN = "1234"
LOST = (OSError, HTTPException)
PROGRAM = ROOT / "build/mpind"
#: Whether the tests compare speeds. With --short they do not, because times on a busy machine mean nothing.
TIMED = "--short" not in sys.argv


class Server:
    """A real mpind on its own ports. It can be started and ended repeatedly with the same state."""

    def __init__(
        self,
        folder: Path,
        state: str | None = None,
        log_level: str = "error",
        mails: Path | None = None,
        options: Sequence[str] = (),
        prefix: Sequence[str] = (),
        program: Path = PROGRAM,
        has_health: bool = False,
        address: str = "127.0.0.1",
    ) -> None:
        """state: the state folder of another server, to share its databases; None: a new folder. mails: the folder for
        mails; None: it sends none, and registrations need no confirmation. options: more options. prefix: a command
        that runs the server. program: another mpind, for example that of an earlier version. has_health: whether it has
        a listener for health alone. address: of its public listener and that for health."""
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.port, health_port, *others = free_ports(5)
        self.address = f"{address}:{self.port}"
        self.backend = f"http://{self.address}"
        self.health_port = health_port if has_health else None
        self.private_port, self.dta1_port, self.dta2_port = others
        self.state = state or str(folder / "state")
        self.mails = mails
        self._log = (folder / "mpind.log").open("ab")
        names = ["--port", "--private-port", "--dta1-port", "--dta2-port"]
        ports = [text for pair in zip(names, [self.port, *others]) for text in map(str, pair)]
        self.program = program
        self._prefix = prefix
        self.options = [
            "--all-in-one", "--state-dir", self.state, "--host", address,
            *(["--health-listen", f"{address}:{health_port}"] if has_health else []),
            *(["--mail-dir", str(mails)] if mails else ["--force-activate"]),
            *([] if "--rate-limits" in options else ["--rate-limits", "off"]),
            "--log-level", log_level, *ports, *options,
        ]  # fmt: skip
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *more: str) -> float:
        """Starts the server with additional options `more`, and returns the seconds until it answered."""
        begun = time.monotonic()
        self.process = subprocess.Popen([*self._prefix, str(self.program), *self.options, *more], stderr=self._log)
        wait_until(self._answers, 60)
        return time.monotonic() - begun

    def end(self, how: signal.Signals) -> float:
        """Sends a signal to the server and returns the seconds until the process had ended."""
        assert self.process is not None
        begun = time.monotonic()
        self.process.send_signal(how)
        status = self.process.wait(60)
        assert status in (0, -how), f"mpind ended with {status}"
        return time.monotonic() - begun

    def kill(self) -> None:
        """Kills the process, in whatever state it is."""
        if self.process is not None and self.process.poll() is None:
            self.end(signal.SIGKILL)

    def close(self) -> None:
        """Ends the server and closes its log."""
        self.end(signal.SIGTERM)
        self._log.close()

    def log_text(self) -> str:
        return Path(self._log.name).read_text()

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def memory(self) -> float:
        """The resident memory in MB."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 1e6

    def files(self) -> int:
        """Counts the open files, without the connections between the server's parts, because these are kept once they
        were needed."""
        folder = f"/proc/{self.pid}/fd"
        names = []
        for file in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):
                names.append(os.readlink(f"{folder}/{file}"))
        rows = [line.split() for line in Path(f"/proc/{self.pid}/net/tcp").read_text().splitlines()[1:]]
        ours = {(row[1], row[2]) for row in rows if f"socket:[{row[9]}]" in names}
        return len(names) - sum((there, here) in ours for here, there in ours)

    def load(self, **options: Any) -> dict[str, Any]:
        """Runs mpin-load with this server and returns its results."""
        return load(self.backend, self.pid, **options)

    @contextlib.contextmanager
    def busy(self, connections: int) -> Iterator[None]:
        """Lets people log in over so many connections meanwhile, with right PINs, as fast as the server answers."""
        words = ["--url", self.backend, "--pid", str(self.pid), "--json", "--connections", str(connections)]
        words += ["--users", str(2 * connections), "--seconds", "100000"]
        with tempfile.TemporaryFile() as said:
            logins = subprocess.Popen([ROOT / ".build/release/mpin-load", *words], stdout=said, stderr=said)
            try:
                yield
                assert logins.poll() is None, "mpin-load has ended"
            finally:
                logins.kill()
                logins.wait()

    def service(self, database: str) -> list[str]:
        """The options of a command for its database, with the key of the records in it."""
        return ["--database", database, "--service-key-file", f"{self.state}/rps.key"]

    def revoke(self, user: str) -> None:
        place = ["--state-dir", self.state]
        if "--database" in self.options:
            place = self.service(self.options[self.options.index("--database") + 1])
        command = [str(PROGRAM), "user", "revoke", user, *place]
        subprocess.run(command, check=True, capture_output=True)

    def _answers(self) -> bool:
        assert self.process is not None and self.process.poll() is None, f"mpind has ended: {self.log_text()[-500:]}"
        try:
            Phone(self.backend, "")
            return True
        except LOST:
            return False


def load(backend: str, pid: int, **options: Any) -> dict[str, Any]:
    """Runs mpin-load and returns its results. Limits that it reports as broken are ignored here."""
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    command = [str(ROOT / ".build/release/mpin-load"), "--url", backend, "--pid", str(pid), "--json"]
    done = subprocess.run(command + words, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return dict(json.loads(done.stdout))


def registered(server: Server, user: str) -> Phone:
    """Registers a user with the PIN of this module, and returns the phone."""
    return Phone(server.backend, user).register(PIN)


def accepted(request: Callable[[], object]) -> bool:
    try:
        request()
        return True
    except Refused:
        return False
