"""Runs the containers of a compose file or of a Kubernetes manifest with the mpind of this tree: bubblewrap stands for the
container engine. Each has the mounts, the user and the read-only file system that its description says, and the machine's
network."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "EndToEnd"))
from node import ROOT
from phone import wait_until
from ports import free_ports

#: What the image has besides mpind: its libraries, and how names are found.
SYSTEM = ["/usr", "/etc/nsswitch.conf", "/etc/hosts", "/etc/passwd"]


@dataclass
class Mount:
    """What a container sees at `path`: a folder or file of this machine, or an empty folder if `source` is None."""

    path: str
    source: Path | None = None
    is_writable: bool = True


@dataclass
class Container:
    name: str
    command: list[str]
    mounts: list[Mount]
    #: The commands of the probes, by their names.
    probes: dict[str, list[str]] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Runs another command with the mounts of this container."""
        return subprocess.run(self._wrapped(command), capture_output=True, text=True, check=False, timeout=60)

    def start(self, log: Path) -> None:
        with log.open("ab") as file:
            self.process = subprocess.Popen(self._wrapped(self.command), stdout=file, stderr=file)

    def passes(self, probe: str) -> bool:
        return self.run(self.probes[probe]).returncode == 0

    def stop(self) -> int:
        """Ends the container as an engine does. Returns the exit code."""
        # The image of haproxy says that it wants this signal.
        how = signal.SIGUSR1 if self.command[0] == "haproxy" else signal.SIGTERM
        assert self.process is not None
        for child in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split():
            os.kill(int(child), how)
        return self.process.wait(60)

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            # The container dies with its parent.
            self.process.kill()
            self.process.wait()

    def _wrapped(self, command: list[str]) -> list[str]:
        program = (ROOT / "build/mpind").resolve()
        words = ["bwrap", "--unshare-user", "--uid", "10001", "--gid", "10001", "--unshare-pid", "--as-pid-1"]
        words += ["--die-with-parent", "--clearenv", "--setenv", "PATH", "/usr/sbin:/usr/bin"]
        words += ["--proc", "/proc", "--dev", "/dev"]
        for folder in ("lib", "lib64", "bin", "sbin"):
            words += ["--symlink", f"usr/{folder}", f"/{folder}"]
        for path in [*SYSTEM, *_libraries(program)]:
            words += ["--ro-bind", path, path]
        words += ["--ro-bind", str(program), "/mpind"]
        for mount in self.mounts:
            if mount.source is None:
                words += ["--tmpfs", mount.path]
            else:
                words += ["--bind" if mount.is_writable else "--ro-bind", str(mount.source), mount.path]
        words += ["--remount-ro", "/"]
        return [*words, *("/mpind" if word == "/usr/bin/mpind" else word for word in command)]


def _libraries(program: Path) -> list[str]:
    """The libraries of Swift, which are not where those of the system are."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    paths = re.findall(r"=> (/\S+)", listed)
    return [path for path in paths if not path.startswith(("/usr/", "/lib"))]


class Ports:
    """Gives each port that the configuration of a pod names a free one of this machine."""

    def __init__(self) -> None:
        self._map: dict[str, int] = {}

    def __getitem__(self, port: str) -> int:
        if port not in self._map:
            [self._map[port]] = free_ports(1)
        return self._map[port]

    def replace(self, text: str) -> str:
        text = re.sub(r"\b(?:0\.0\.0\.0|127\.0\.0\.1):(\d+)", lambda found: f"127.0.0.1:{self[found[1]]}", text)
        text = re.sub(r"^((?:\w+-)?port): (\d+)$", lambda found: f"{found[1]}: {self[found[2]]}", text, flags=re.M)
        return re.sub(r"bind :(\d+)", lambda found: f"bind 127.0.0.1:{self[found[1]]}", text)


@dataclass
class Pod:
    """Containers that share a network and volumes."""

    ports: Ports
    before: list[Container]
    containers: list[Container]
    log: Path

    def start(self) -> None:
        """Runs the containers that must end first, starts the others, and waits until they are ready."""
        for container in self.before:
            done = container.run(container.command)
            assert done.returncode == 0, f"{container.name}: {done.stderr}"
        for container in self.containers:
            container.start(self.log)
        for container in self.containers:
            for probe in container.probes:
                wait_until(lambda container=container, probe=probe: self._passes(container, probe))

    def _passes(self, container: Container, probe: str) -> bool:
        assert container.process is not None
        assert container.process.poll() is None, f"{container.name} has ended: {self.log.read_text()[-1000:]}"
        return container.passes(probe)

    def stop(self) -> None:
        for container in reversed(self.containers):
            status = container.stop()
            assert status == 0, f"{container.name} ended with {status}"

    def kill(self) -> None:
        for container in self.containers:
            container.kill()


def pod(
    spec: dict[str, Any], claims: list[str], configs: dict[str, dict[str, str]], secrets: Path, folder: Path,
    changed: Callable[[str], str], more: list[Mount],
) -> Pod:  # fmt: skip
    """Makes a pod of a manifest. claims: the names of its volumes that last. configs: its ConfigMaps. secrets: a folder
    with a folder for each Secret. changed: what the test changes in a configuration. more: mounts that the test adds."""
    ports = Ports()
    folder.mkdir()
    volumes: dict[str, Mount] = {}
    for name in claims:
        (folder / name).mkdir()
        volumes[name] = Mount("", folder / name)
    for volume in spec["volumes"]:
        name = volume["name"]
        if "configMap" in volume:
            (folder / name).mkdir()
            for file, text in configs[volume["configMap"]["name"]].items():
                (folder / name / file).write_text(ports.replace(changed(text)))
            volumes[name] = Mount("", folder / name)
        elif "secret" in volume:
            volumes[name] = Mount("", secrets / volume["secret"]["secretName"])
        else:
            assert "emptyDir" in volume, volume
            volumes[name] = Mount("")

    def container(about: dict[str, Any]) -> Container:
        mounts = [
            Mount(each["mountPath"], volumes[each["name"]].source, not each.get("readOnly", False))
            for each in about.get("volumeMounts", [])
        ]
        probes = {name: about[name]["exec"]["command"] for name in about if name.endswith("Probe")}
        command = [*about.get("command", ["/usr/bin/mpind"]), *about.get("args", [])]
        return Container(about["name"], command, [*mounts, *more], probes)

    before = [container(each) for each in spec.get("initContainers", [])]
    return Pod(ports, before, [container(each) for each in spec["containers"]], folder / "log")
