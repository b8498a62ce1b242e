"""Nodes behind haproxy or nginx, configured by the lines of docs/postgres.md, while people log in. Each node is killed, or
restarted as docs/postgres.md says."""

from __future__ import annotations

import contextlib
import csv
import os
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from audits import audit, make_audit
from invariants import ANSWER, Invariants
from node import LOST, PIN, PROGRAM, ROOT, Server
from phone import Phone, Refused, patiently, wait_until
from ports import free_ports

NODES = 3
#: The name of haproxy's socket for commands, in the folder of its configuration.
SOCKET = "haproxy.socket"
#: The statuses by which a proxy says that it has lost the connection to a node.
LOST_BY_PROXY = (502, 504)
#: The most seconds until an answer while nothing is heard of a node that has got the request: haproxy's `timeout server`, and
#: some for a busy machine.
STANDS_STILL = 65


class Crowd:
    """People who log in again and again, until the block ends that is entered with them."""

    def __init__(self, url: str, begins: Callable[[], Callable[[], bool]] = lambda: lambda: False) -> None:
        """begins: is called when a login begins. Returns a function that tells, if the login fails, whether it may. Without
        it, none may."""
        self.phones = [patiently(lambda n=number: registered(url, f"crowd{n}@example.com")) for number in range(4)]
        self.logged_in: list[Phone] = []
        #: For each login that failed and might fail.
        self.lost: list[Phone] = []
        self._begins = begins
        self._done = threading.Event()
        self._threads = ThreadPoolExecutor(len(self.phones))

    def __enter__(self) -> Crowd:
        self._running = [self._threads.submit(self._live, phone) for phone in self.phones]
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._threads.shutdown()
        for each in self._running:
            each.result()

    def go_on(self, count: int) -> None:
        """Waits for `count` more logins, or for the first error."""
        size = len(self.logged_in)
        wait_until(lambda: len(self.logged_in) > size + count or any(each.done() for each in self._running), 300)

    def _live(self, phone: Phone) -> None:
        while not self._done.is_set():
            if patiently(lambda: self._logs_in(phone)):
                self.logged_in.append(phone)

    def _logs_in(self, phone: Phone) -> bool:
        may_fail = self._begins()
        try:
            phone.login(PIN)
            return True
        except (Refused, *LOST) as problem:
            if isinstance(problem, Refused) and problem.retry_after is not None:
                raise
            assert may_fail(), f"a login failed that must not fail: {problem!r}"
            self.lost.append(phone)
            return False


def killed(folder: Path, proxy: str, state: str, options: Sequence[str], count: int, is_whole: bool) -> str:
    """Kills each node behind a proxy (haproxy or nginx) while people log in. Only logins that had begun then may fail. `count`
    logins come between two kills at least. is_whole: everything goes on meanwhile that `Invariants` checks."""
    kills: list[Server] = []
    is_down = threading.Event()

    def begins() -> Callable[[], bool]:
        was_down, before = is_down.is_set(), len(kills)
        return lambda: not was_down or len(kills) > before

    with behind(folder, proxy, state, options, is_whole=is_whole) as (url, nodes):
        keeping = Keeping(folder / f"kept-{proxy}", url, nodes, options, is_whole, keeps_lines=False)
        with Crowd(url, begins) as crowd, keeping.meanwhile():
            for node in nodes:
                crowd.go_on(count)
                if proxy == "haproxy":
                    # On a busy machine the node before may have been away so long that haproxy does not use it yet.
                    wait_until(lambda: haproxy_says(folder, nodes, "UP"))
                kills.append(node)
                node.end(signal.SIGKILL)
                is_down.set()
                crowd.go_on(count)
                is_down.clear()
                node.start()
        said = keeping.check()
        if proxy == "nginx":
            is_found_at_once(nodes, url)
    lost = len(crowd.lost)
    assert lost <= NODES * len(crowd.phones), f"{lost} logins lost"
    if proxy == "nginx":
        no_post_was_repeated(folder / "tried.txt")
    return f"{len(crowd.logged_in)} logins, each node was killed once, {lost} logins that had begun were lost{said}"


class Keeping:
    """What people, operators and attackers do at a proxy meanwhile, if asked for, and whether all is right afterwards."""

    def __init__(
        self, folder: Path, url: str, nodes: list[Server], options: Sequence[str], is_wanted: bool, most: float = ANSWER,
        keeps_lines: bool = True,
    ) -> None:  # fmt: skip
        """folder: a new one. options: those of the nodes. most, keeps_lines: as of `Invariants`."""
        self._invariants = None
        if is_wanted:
            database = options[options.index("--database") + 1]
            self._invariants = Invariants(folder, nodes, database, url, LOST_BY_PROXY, most, keeps_lines)

    def meanwhile(self) -> contextlib.AbstractContextManager[None]:
        return self._invariants.meanwhile() if self._invariants else contextlib.nullcontext()

    def check(self) -> str:
        return f"; {self._invariants.check()}" if self._invariants else ""


def is_found_at_once(nodes: list[Server], url: str) -> None:
    """Starts one node after nginx has noticed that all are down. The next request must reach it."""
    for node in nodes:
        node.end(signal.SIGKILL)
    assert not is_up(url)
    nodes[0].start()
    assert is_up(url), "nginx refuses requests though a node is up"


def paused(folder: Path, state: str, options: Sequence[str], count: int, is_whole: bool) -> str:
    """Stops a node behind haproxy (SIGSTOP), which leaves it out, and lets it go on later. No login fails that began after
    haproxy had noticed, nor any after the node goes on. Then no node is ready for a while, but all can log people in; again
    no login fails. is_whole: as in `killed`."""
    is_stopped, is_out = threading.Event(), threading.Event()

    def begins() -> Callable[[], bool]:
        was_out = is_out.is_set()
        return lambda: is_stopped.is_set() and not was_out

    with behind(folder, "haproxy", state, options, is_whole=is_whole) as (url, nodes):
        # What the stopped node has got waits until it goes on, or until haproxy's time is over.
        keeping = Keeping(folder / "kept-paused", url, nodes, options, is_whole, most=STANDS_STILL)
        with Crowd(url, begins) as crowd, keeping.meanwhile():
            crowd.go_on(count)
            is_stopped.set()
            os.kill(nodes[0].pid, signal.SIGSTOP)
            try:
                wait_until(lambda: haproxy_says(folder, nodes[:1], "DOWN"))
                is_out.set()
                phone = patiently(lambda: registered(url, "meanwhile@example.com"))
                for _ in range(count):
                    patiently(lambda: phone.login(PIN))
            finally:
                os.kill(nodes[0].pid, signal.SIGCONT)
            wait_until(lambda: haproxy_says(folder, nodes, "UP"))
            crowd.go_on(count)
            with unready(state):
                wait_until(lambda: haproxy_says(folder, nodes, "DOWN"))
                crowd.go_on(count)
            wait_until(lambda: haproxy_says(folder, nodes, "UP"))
            crowd.go_on(count)
        said = keeping.check()
    lost = len(crowd.lost)
    assert lost <= len(crowd.phones), f"{lost} logins lost"
    logins = len(crowd.logged_in) + count
    return f"{logins} logins, a node was stopped, {lost} logins that had begun were lost; then none was ready{said}"


@contextlib.contextmanager
def unready(state: str) -> Iterator[None]:
    """Takes away a file of a D-TA, which the nodes then count as broken, though they have read it."""
    file = Path(state) / "dta1.sqlite"
    away = file.rename(file.with_suffix(".away"))
    try:
        yield
    finally:
        away.rename(file)


def rolled(
    folder: Path, state: str, options: Sequence[str], count: int, programs: list[Path], has_health: bool = True,
    is_whole: bool = False,
) -> str:  # fmt: skip
    """Replaces each node behind haproxy by one that runs `programs[0]`, one after the other, then each by `programs[1]`, and
    so on, while people log in and others register. None of their requests fails. At the start the nodes run the last of
    the programs. has_health: whether all programs know the listener for health. is_whole: as in `killed`."""
    known: list[Phone] = []

    with behind(folder, "haproxy", state, options, programs[-1], has_health, is_whole) as (url, nodes):
        keeping = Keeping(folder / "kept-rolled", url, nodes, options, is_whole)
        with Crowd(url) as crowd, keeping.meanwhile():
            for program in programs:
                for number, node in enumerate(nodes, 1):
                    name = f"nodes/node{number}"
                    tell_haproxy(folder, f"set server {name} state drain")
                    wait_until(lambda number=number: statistics(folder)[number - 1]["scur"] == "0")
                    node.end(signal.SIGTERM)
                    known.append(patiently(lambda: registered(url, f"rolled{len(known)}@example.com")))
                    crowd.go_on(count)
                    node.program = program
                    node.start()
                    tell_haproxy(folder, f"set server {name} state ready")
                    wait_until(lambda: haproxy_says(folder, nodes, "UP"))
                    crowd.go_on(count)
            for phone in known:
                patiently(lambda phone=phone: phone.login(PIN))
        said = keeping.check()
    return f"{len(crowd.logged_in)} logins while {len(known)} nodes were replaced, 0 failed{said}"


@contextlib.contextmanager
def behind(
    folder: Path, proxy: str, state: str, options: Sequence[str], program: Path = PROGRAM, has_health: bool = True,
    is_whole: bool = False,
) -> Iterator[tuple[str, list[Server]]]:  # fmt: skip
    """Starts nodes that run a program, and a proxy before them. Yields the proxy's URL, and the nodes. has_health: whether
    the program knows the listener for health. is_whole: with all that `Invariants` needs."""
    folder.mkdir()
    [port] = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    options = [*options, "--behind-proxy", "--public-url", url]
    nodes = [
        Server(
            folder / f"behind{n}", state=state, log_level="debug" if is_whole else "error", options=options, program=program,
            has_health=has_health,
        )
        for n in range(NODES)
    ]  # fmt: skip
    for node in nodes if is_whole else []:
        make_audit(node)
        node.options += audit(node)
    command = {"haproxy": haproxy_command, "nginx": nginx_command}[proxy]
    try:
        for node in nodes:
            node.start()
        front = subprocess.Popen(command(folder, port, nodes))
        try:
            wait_until(lambda: is_up(url))
            yield url, nodes
        finally:
            # A killed nginx would leave its worker behind.
            front.terminate()
            front.wait()
    finally:
        for node in nodes:
            node.kill()


def registered(url: str, user: str) -> Phone:
    return Phone(url, user).register(PIN)


def is_up(backend: str) -> bool:
    try:
        Phone(backend, "")
        return True
    except (Refused, *LOST):
        return False


def haproxy_command(folder: Path, port: int, nodes: list[Server]) -> list[str]:
    start = f"global\n    stats socket {folder}/{SOCKET} level admin\n"
    waits = "defaults\n    mode http\n    timeout connect 2s\n    timeout client 60s\n    timeout server 60s\n"
    file = folder / "haproxy.cfg"
    lines = proxy_lines("haproxy", "bind :443 ssl crt /etc/haproxy/mpin.pem", f"bind 127.0.0.1:{port}", nodes)
    file.write_text(start + waits + lines)
    return ["haproxy", "-q", "-f", str(file)]


def tell_haproxy(folder: Path, command: str) -> str:
    with socket.socket(socket.AF_UNIX) as admin:
        admin.connect(str(folder / SOCKET))
        admin.sendall(command.encode() + b"\n")
        return b"".join(iter(lambda: admin.recv(65536), b"")).decode()


def haproxy_says(folder: Path, nodes: list[Server], status: str) -> bool:
    """Whether haproxy says of all these nodes, the first ones, that they are UP, or that they are DOWN."""
    return all(row["status"] == status for _, row in zip(nodes, statistics(folder)))


def statistics(folder: Path) -> list[dict[str, str]]:
    """What haproxy says of each node."""
    rows = csv.DictReader(tell_haproxy(folder, "show stat").removeprefix("# ").splitlines())
    return [row for row in rows if row["pxname"] == "nodes" and row["svname"].startswith("node")]


def nginx_command(folder: Path, port: int, nodes: list[Server]) -> list[str]:
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    user = "user root; " if os.geteuid() == 0 else ""
    events = "events { worker_connections 4096; }"
    tried = f"log_format tried '$request_method|$upstream_addr|$upstream_bytes_sent'; access_log {folder}/tried.txt tried;"
    (folder / "nginx.conf").write_text(
        f"{user}daemon off; pid {folder}/pid; {events} http {{ {tried} {paths} include site.conf; }}"
    )
    site = proxy_lines("nginx", "listen 443 ssl;", f"listen 127.0.0.1:{port};", nodes)
    (folder / "site.conf").write_text(re.sub(r" *ssl_certificate.*\n", "", site))
    return ["/usr/sbin/nginx", "-e", f"{folder}/errors.txt", "-c", f"{folder}/nginx.conf"]


def no_post_was_repeated(log: Path) -> None:
    """Reads in nginx's log, for each request, which servers it was sent to and how many bytes of it went there. A request
    that changes something goes to another server only if the ones before got nothing; but a PUT, which begins a registration,
    may begin two."""
    lines = [line.split("|") for line in log.read_text().splitlines()]
    assert any(method == "POST" for method, _, _ in lines), "no request in the log"
    for method, servers, sent in lines:
        was_sent = any(map(int, sent.split(", ")[:-1]))
        assert method in ("GET", "PUT") or not was_sent, f"{method} was sent twice: {servers}, {sent} bytes"


def proxy_lines(program: str, listen: str, here: str, nodes: list[Server]) -> str:
    """The lines of docs/postgres.md for a proxy, with these ports and without TLS."""
    _, _, rest = (ROOT / "docs/postgres.md").read_text().partition(f"```{program}\n")
    text = rest.partition("```")[0].replace(listen, here)
    for number, node in enumerate(nodes, 1):
        there = f"10.0.0.1{number}:8005"
        text = text.replace(f"{there} port 8006", f"{there} port {node.health_port}" if node.health_port else there)
        text = text.replace(there, node.address)
    if not nodes[0].health_port:
        # An earlier version says only on its public listener that it lives.
        text = re.sub(r"/health/(live|ready)", "/rps/clientSettings", text)
    assert here in text, text
    assert "8006" not in text, text
    assert "10.0.0." not in text, text
    return text
