"""The PAM module in Debian's sshd and sudo."""

from __future__ import annotations

import os
import pathlib
import select
import socket
import subprocess
from collections.abc import Iterator

import pytest
from pam_fixtures import APART, LOCAL, OTHER, SERVICE, Provider, SystemLog, allow, attempt, configure
from pam_terminal import Terminal, photographed
from phone import wait_until
from relying_party import Person

pytestmark = pytest.mark.usefixtures("machine")
PORT = os.environ["MPIN_SSH_PORT"]
SSHD_LOG = APART / "sshd.log"
CONFIG = f"""
ListenAddress 127.0.0.1:{PORT}
HostKey {APART}/host_key
PidFile none
UsePAM yes
KbdInteractiveAuthentication yes
PasswordAuthentication no
PubkeyAuthentication no
LogLevel DEBUG3
"""


@pytest.fixture(scope="module")
def the_sshd() -> Iterator[subprocess.Popen[bytes]]:
    config = APART / "sshd_config"
    config.write_text(CONFIG)
    sshd = subprocess.Popen(["/usr/sbin/sshd", "-D", "-f", str(config), "-E", str(SSHD_LOG)])
    wait_until(listens)
    yield sshd
    sshd.terminate()
    sshd.wait()


def listens() -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", int(PORT))) == 0


@pytest.fixture
def sshd(the_sshd: subprocess.Popen[bytes], provider: Provider) -> Iterator[subprocess.Popen[bytes]]:
    """sshd with the module. Its own log may not contain a secret either, even if it is most verbose."""
    configure(service="sshd")
    yield the_sshd
    written = SSHD_LOG.read_text(errors="replace")
    assert not any(secret in written for secret in provider.secrets)


def ssh(user: str = LOCAL) -> Terminal:
    options = [
        "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR", "NumberOfPasswordPrompts=1",
    ]  # fmt: skip
    words = [word for option in options for word in ("-o", option)]
    return Terminal("ssh", "-F", "none", *words, "-p", PORT, f"{user}@127.0.0.1", "echo I am $(id -un)")


def children(sshd: subprocess.Popen[bytes]) -> str:
    """The processes of the connections that sshd has."""
    return pathlib.Path(f"/proc/{sshd.pid}/task/{sshd.pid}/children").read_text()


def test_ssh(alice: Person, sshd: subprocess.Popen[bytes], provider: Provider, log: SystemLog) -> None:
    """ssh shows the QR code and the link, and the phone lets the user in."""
    terminal = ssh()
    invitation = terminal.invitation()
    assert photographed(terminal.shown) == invitation.link
    allow(alice, invitation)
    terminal.press_enter()
    assert terminal.end() == 0 and f"I am {LOCAL}" in terminal.shown
    log.wait_for(f"login of {LOCAL}")
    assert provider.secrets and "debug3" in SSHD_LOG.read_text(errors="replace")


def test_ssh_before_the_phone(alice: Person, sshd: subprocess.Popen[bytes]) -> None:
    """Whoever presses Enter too early only waits a little longer."""
    terminal = ssh()
    invitation = terminal.invitation()
    terminal.press_enter()
    allow(alice, invitation)
    assert terminal.end() == 0 and f"I am {LOCAL}" in terminal.shown


def test_ssh_of_another_person(bob: Person, sshd: subprocess.Popen[bytes], log: SystemLog) -> None:
    terminal = ssh()
    allow(bob, terminal.invitation())
    terminal.press_enter()
    assert terminal.end() == 255 and "Permission denied" in terminal.shown and "I am" not in terminal.shown
    log.wait_for("another person wants to be")


@pytest.mark.parametrize("user", [OTHER, "mpin-nobody", "root", "a" * 300], ids=lambda user: user[:20])
def test_ssh_of_nobody(sshd: subprocess.Popen[bytes], user: str) -> None:
    terminal = ssh(user)
    assert terminal.end() == 255 and "code:" not in terminal.shown and "I am" not in terminal.shown


def test_ssh_that_is_closed(sshd: subprocess.Popen[bytes], provider: Provider) -> None:
    """If the connection ends, the login ends, too."""
    terminal = ssh()
    terminal.wait_for("Press Enter")
    assert children(sshd)
    terminal.kill()
    wait_until(lambda: not children(sshd))


def sudo(**environment: str) -> Terminal:
    command = ["setpriv", "--reuid", LOCAL, "--regid", LOCAL, "--clear-groups", "sudo", "-k", "id", "-un"]
    return Terminal(*command, **environment)


def test_sudo(alice: Person, log: SystemLog) -> None:
    configure(service="sudo")
    terminal = sudo()
    invitation = terminal.invitation()
    assert photographed(terminal.shown) == invitation.link
    allow(alice, invitation)
    assert terminal.end() == 0 and "\nroot\n" in terminal.shown
    log.wait_for(f"login of {LOCAL}")


def test_sudo_of_another_person(bob: Person, log: SystemLog) -> None:
    configure(service="sudo")
    terminal = sudo()
    allow(bob, terminal.invitation())
    assert terminal.end() == 1 and "\nroot\n" not in terminal.shown


def test_sudo_that_is_interrupted(log: SystemLog) -> None:
    """Ctrl-C at the prompt ends the login at once."""
    configure("prompt", service="sudo", timeout="600")
    terminal = sudo()
    terminal.wait_for("Press Enter")
    assert terminal.interrupt() == 1 and "\nroot\n" not in terminal.shown
    log.wait_for("CANCELED")


def test_environment_of_sudo() -> None:
    """The user's environment does not choose the proxy through which sudo asks the provider; that of a program without
    more rights than its user does."""
    for service in ("sudo", SERVICE):
        configure(service=service, issuer="https://provider.invalid")
        with socket.create_server(("127.0.0.1", 0)) as proxy:
            proxy.setblocking(False)
            chosen = {"https_proxy": f"http://127.0.0.1:{proxy.getsockname()[1]}"}
            terminal = sudo(**chosen) if service == "sudo" else attempt(**chosen)
            assert terminal.end() == 1
            assert bool(select.select([proxy], [], [], 0)[0]) == (service != "sudo")
