"""A server whose parts are separate processes: two D-TAs, an RPS, and an RPA that forwards clients' requests to the
RPS."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from node import LOST, ROOT, load
from phone import Phone, Refused, wait_until
from ports import free_ports


class Split:
    """All four parts, started once. Clients know only the URL of the RPA."""

    def __init__(self, folder: Path, *rates: str, provider: Sequence[str] | None = None) -> None:
        """rates: additional options of the RPS and the RPA. provider: if not None, the RPS is an OpenID provider with
        these options, and the RPA confirms registrations by mails into the folder `mails`."""
        folder.mkdir()
        self._folder = folder
        self.mails = folder / "mail"
        self._provider = provider
        self._log = (folder / "mpind.log").open("ab")
        for name in ["dta1", "dta2", "rps", "rpa", "rps-dta1", "rps-dta2", "rps-rpa"]:
            subprocess.run([ROOT / "build/mpind", "keys", "new", self._key(name)], check=True, capture_output=True)
        self._dta1, self._dta2, self._rps, self._private, self.port, self._mail = free_ports(6)
        self.backend = self._reach("client", "rpa", self.port)
        self.issuer = self._reach("client", "rps", self._rps)
        self._parts: dict[str, subprocess.Popen[bytes]] = {}
        try:
            self._start_authorities()
            self._start("rps", *self._service(), *rates)
            self._start("rpa", *self._application(), *rates)
            wait_until(self._answers, 60)
        except BaseException:
            self.kill()
            raise

    def _start_authorities(self) -> None:
        self._start("dta1", *self._authority("dta1", self._dta1))
        self._start("dta2", *self._authority("dta2", self._dta2))

    def end(self) -> None:
        """Ends all parts and checks their exit codes."""
        for name in reversed(list(self._parts)):
            part = self._parts.pop(name)
            part.send_signal(signal.SIGTERM)
            status = part.wait(60)
            assert status == 0, f"{name} ended with {status}: {self.log_text()[-500:]}"
        self._log.close()

    def kill(self) -> None:
        for part in self._parts.values():
            part.kill()
            part.wait(60)
        self._parts = {}

    def database(self) -> str:
        """The path of the RPS's database, for the operator's commands."""
        return str(self._folder / "rps.sqlite")

    def load(self, **options: Any) -> dict[str, Any]:
        """Runs mpin-load, whose logins go through the RPA, and returns its results."""
        return load(self.backend, self._parts["rps"].pid, **options)

    def memory(self) -> dict[str, int]:
        """The resident memory of each part in MB."""
        pages = {name: Path(f"/proc/{part.pid}/statm").read_text().split()[1] for name, part in self._parts.items()}
        return {name: int(count) * 4096 // 1_000_000 for name, count in pages.items()}

    def files(self) -> int:
        """Counts the open files of the RPA."""
        return len(list(Path(f"/proc/{self._parts['rpa'].pid}/fd").iterdir()))

    def log_text(self) -> str:
        return Path(self._log.name).read_text()

    def _reach(self, caller: str, part: str, port: int) -> str:
        """The URL by which `caller`, the client or a part, reaches the port of a part."""
        return f"http://{_address(port)}"

    def _key(self, name: str) -> str:
        return str(self._folder / f"{name}.key")

    def _authority(self, name: str, port: int) -> list[str]:
        database = str(self._folder / f"{name}.sqlite")
        return [
            "dta", "--name", name, "--listen", _address(port), "--database", database,
            "--key-file", self._key(name), "--rps-key-file", self._key(f"rps-{name}"), "--rate-limits", "off",
        ]  # fmt: skip

    def _service(self) -> list[str]:
        # With --behind-proxy, the RPS takes the address of a client from the RPA.
        return [
            "rps", "--listen", _address(self._rps), "--private-listen", _address(self._private),
            "--database", self.database(), "--key-file", self._key("rps"), "--behind-proxy",
            "--dta1-url", self._reach("rps", "dta1", self._dta1), "--dta1-key-file", self._key("rps-dta1"),
            "--dta2-url", self._reach("rps", "dta2", self._dta2), "--dta2-key-file", self._key("rps-dta2"),
            "--dta2-public-url", self._reach("client", "dta2", self._dta2), "--rpa-key-file", self._key("rps-rpa"),
            "--verify-url", self._reach("rps", "rpa", self._mail) + "/mpinVerify", *self._faces(),
        ]  # fmt: skip

    def _faces(self) -> list[str]:
        if self._provider is None:
            return []
        mails = ["--mail-dir", str(self._folder / "provider-mail")]
        return ["--issuer", self.issuer, "--public-url", self.backend, *mails, *self._provider]

    def _application(self) -> list[str]:
        return [
            "rpa", "--listen", _address(self.port), "--private-listen", _address(self._mail),
            "--key-file", self._key("rpa"), "--rps-key-file", self._key("rps-rpa"),
            *(["--force-activate"] if self._provider is None else ["--mail-dir", str(self.mails), "--issuer", self.issuer]),
            "--rps-private-url", self._reach("rpa", "rps", self._private),
            "--rps-url", self._reach("rpa", "rps", self._rps),
        ]  # fmt: skip

    def _start(self, name: str, *options: str) -> None:
        command = [str(ROOT / "build/mpind"), *options, "--log-level", "warning"]
        self._parts[name] = subprocess.Popen(command, stderr=self._log)

    def _answers(self) -> bool:
        for name, part in self._parts.items():
            assert part.poll() is None, f"{name} has ended: {self.log_text()[-500:]}"
        try:
            Phone(self.backend, "")
            return True
        except (*LOST, Refused):
            return False


def _address(port: int) -> str:
    return f"127.0.0.1:{port}"
