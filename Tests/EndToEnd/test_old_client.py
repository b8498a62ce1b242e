"""Tests the flows of Milagro's client with a real mpind in a separate process."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mpin import crypto
from old_client import SECRETS, ClientError, Mailbox, OldBrowser, OldClient, Status, pin_value, send
from ports import free_ports

ROOT = pathlib.Path(__file__).parents[2]
MPIND = os.environ.get("MPIND", str(ROOT / "build" / "mpind"))


class Server:
    """An mpind with all parts and its state in its own folder."""

    def __init__(self, folder: pathlib.Path, *options: str) -> None:
        self.mailbox = Mailbox(folder / "mail")
        ports = free_ports(5)
        self.url = f"http://127.0.0.1:{ports[0]}"
        names = ("--port", "--private-port", "--dta1-port", "--dta2-port")
        self._arguments = [MPIND, "--all-in-one", "--state-dir", str(folder / "state"), "--public-url", self.url]
        self._arguments += ["--mail-dir", str(folder / "mail"), "--log-level", "debug", *options]
        self._arguments += ["--admin-listen", f"127.0.0.1:{ports[4]}"]
        self._admin = f"http://127.0.0.1:{ports[4]}"
        self._state = folder / "state"
        for name, port in zip(names, ports):
            self._arguments += [name, str(port)]
        self._log = folder / "mpind.log"
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(self._arguments, stderr=log)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            assert self.process.poll() is None, self._log.read_text()[-2000:]
            try:
                if send("GET", self.url + "/rps/clientSettings").status == 200:
                    return
            except OSError:
                time.sleep(0.02)
        raise AssertionError("mpind did not start")

    def stop(self, number: int = signal.SIGTERM) -> int:
        metrics = send("GET", self._admin + "/metrics").body.decode()
        self.process.send_signal(number)
        status = self.process.wait(timeout=60)
        self._assert_silent(metrics)
        return status

    def _assert_silent(self, metrics: str) -> None:
        """Checks, at the end of every test, that the server has written no secret."""
        for path in self._state.glob("*.key"):
            SECRETS.hid(path.read_text().strip())
        log = self._log.read_text()
        assert '"level":"debug"' in log and "mpin_http_requests_total" in metrics
        audit = (self._state / "audit/audit.jsonl").read_text()
        assert SECRETS.in_log(log) == []
        assert SECRETS.in_audit(audit) == []
        assert SECRETS.in_metrics(metrics) == []

    def register(self, user: str, pin: str) -> OldClient:
        client = OldClient(self.url, user)
        if not client.start_registration():
            self.mailbox.confirm(user)
        client.confirm_registration()
        client.finish_registration(pin)
        return client


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("mpind"), "--mobile-use-native")
    yield running
    assert running.stop() == 0


@pytest.fixture
def other(tmp_path: pathlib.Path) -> Iterator[Callable[..., Server]]:
    """Returns a function that starts a server with the given options."""
    made: list[Server] = []

    def make(*options: str) -> Server:
        made.append(Server(tmp_path, *options))
        return made[-1]

    yield make
    for running in made:
        assert running.stop() == 0


def failure(work: Callable[[], Any]) -> ClientError:
    with pytest.raises(ClientError) as caught:
        work()
    return caught.value


def test_the_pin_is_hashed_as_java_does() -> None:
    assert pin_value("1234") == 9442


def test_settings_hold_what_the_old_client_needs(server: Server) -> None:
    settings = OldClient(server.url, "a@example.com").settings
    assert settings["certivoxURL"].endswith("/")
    assert "//" not in settings["registerURL"].removeprefix("http://")
    assert settings["cSum"] == 1 and settings["accessNumberDigits"] == 7
    assert settings["registerURL"] == server.url + "/rps/user"


def test_registers_by_mail_and_logs_in(server: Server) -> None:
    client = OldClient(server.url, "mail@example.com")
    assert client.start_registration(user_data="opaque") is False
    assert failure(client.confirm_registration).status is Status.IDENTITY_NOT_VERIFIED
    server.mailbox.confirm("mail@example.com")
    client.confirm_registration()
    client.finish_registration("1234")
    client.authenticate("1234")
    client.authenticate("1234")


def test_a_restart_keeps_the_identity(server: Server) -> None:
    client = OldClient(server.url, "again@example.com")
    client.start_registration()
    first = client.mpin_id
    assert client.restart_registration() is False
    assert client.mpin_id == first
    server.mailbox.confirm("again@example.com")
    client.confirm_registration()
    client.finish_registration("4321")
    client.authenticate("4321")


def test_a_new_registration_is_a_new_identity(server: Server) -> None:
    first = server.register("twice@example.com", "1111")
    second = server.register("twice@example.com", "2222")
    assert first.mpin_id != second.mpin_id
    first.authenticate("1111")
    second.authenticate("2222")


def test_user_ids_beyond_ascii(server: Server) -> None:
    server.register("юзер@example.com", "1234").authenticate("1234")


def test_a_wrong_pin_and_then_the_right_one(server: Server) -> None:
    client = server.register("wrong@example.com", "1234")
    error = failure(lambda: client.authenticate("1235"))
    assert (error.status, error.http_status) == (Status.INCORRECT_PIN, 401)
    assert not client.blocked
    client.authenticate("1234")


def test_the_third_wrong_pin_blocks_for_good(server: Server) -> None:
    client = server.register("block@example.com", "1234")
    token = client._token
    codes = [failure(lambda: client.authenticate("9999")).http_status for _ in range(3)]
    assert codes == [401, 401, 410]
    assert client.blocked
    client._token = token
    assert failure(lambda: client.authenticate("1234")).http_status == 410, "the right PIN does not help"
    server.register("block@example.com", "1234").authenticate("1234")


def test_one_time_digits(other: Callable[..., Server]) -> None:
    server = other("--request-otp")
    client = server.register("otp@example.com", "1234")
    assert "getAccessNumberURL" not in client.settings
    digits, times = client.authenticate_otp("1234")
    assert len(digits) == 6 and digits.isdigit()
    assert times["expireTime"] - times["nowTime"] == times["ttlSeconds"] * 1000
    assert abs(times["nowTime"] / 1000 - time.time()) < 60
    assert failure(lambda: client.authenticate_otp("9999")).status is Status.INCORRECT_PIN


def log_in(browser: OldBrowser, authenticate: Callable[[], None]) -> None:
    """Logs a browser in: runs the phone's request, which waits, while the browser finds the login and redeems its
    token."""
    phone = Phone(authenticate)
    end = time.monotonic() + 60
    while (answer := browser.poll())["status"] != "authenticate":
        assert time.monotonic() < end and not phone.error
        time.sleep(0.05)
    browser.redeem(answer["authOTT"])
    phone.join()
    assert browser.poll()["status"] == "expired"


class Phone(threading.Thread):
    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__()
        self._work = work
        self.error: ClientError | None = None
        self.start()

    def run(self) -> None:
        try:
            self._work()
        except ClientError as error:
            self.error = error

    def join(self, timeout: float | None = 60) -> None:
        super().join(timeout)
        assert not self.is_alive()
        if self.error:
            raise self.error


def test_a_phone_logs_a_browser_in_and_out(server: Server) -> None:
    client = server.register("number@example.com", "1234")
    browser = OldBrowser(server.url, client.settings)
    assert browser.get("/account").status == 303
    assert browser.poll()["status"] == "new"
    log_in(browser, lambda: client.authenticate_access_number("1234", browser.wid))
    page = browser.get("/account")
    assert page.status == 200 and b"number@example.com" in page.body
    assert client.can_logout()
    assert client.logout()
    assert browser.get("/account").status == 303
    assert not client.can_logout()


def test_a_browsers_login_takes_a_page_of_this_site(server: Server) -> None:
    client = server.register("page@example.com", "1234")
    for code in (False, True):
        browser = OldBrowser(server.url, client.settings, code)
        phone = Phone(lambda: client.authenticate_wid("1234", browser.wid))
        end = time.monotonic() + 60
        while (answer := browser.poll())["status"] != "authenticate":
            assert time.monotonic() < end and not phone.error
        presented = {"mpinResponse": {"authOTT": answer["authOTT"]}}
        assert send("POST", client.settings["authenticateURL"], presented).status == 403, "the token is not used up"
        browser.redeem(answer["authOTT"])
        phone.join()
        assert b"page@example.com" in browser.get("/account").body
        assert client.logout()
        assert browser.get("/account").status == 303


def test_the_phone_waits_for_the_websites_verdict(other: Callable[..., Server]) -> None:
    server = other("--wait-for-login-result")
    client = server.register("verdict@example.com", "1234")
    browser = OldBrowser(server.url, client.settings)
    log_in(browser, lambda: client.authenticate_access_number("1234", browser.wid))
    assert client._logout and client._logout[1]["userId"] == "verdict@example.com"
    assert client.logout()
    client.authenticate("1234")


def test_numbers_that_nobody_shows(server: Server) -> None:
    client = server.register("nobody@example.com", "1234")
    mistyped = failure(lambda: client.authenticate_access_number("1234", "2741538"))
    assert (mistyped.status, mistyped.http_status) == (Status.INCORRECT_ACCESS_NUMBER, 0), "the client sees it itself"
    error = failure(lambda: client.authenticate_access_number("1234", "0000000"))
    assert (error.status, error.http_status) == (Status.INCORRECT_ACCESS_NUMBER, 412)


def test_a_wrong_pin_leaves_the_number_usable(server: Server) -> None:
    client = server.register("second@example.com", "1234")
    browser = OldBrowser(server.url, client.settings)
    error = failure(lambda: client.authenticate_access_number("0000", browser.wid))
    assert (error.status, error.http_status) == (Status.INCORRECT_PIN, 401)
    assert browser.poll()["status"] == "new"
    log_in(browser, lambda: client.authenticate_access_number("1234", browser.wid))


def test_a_phone_waits_ten_seconds_for_the_browser(server: Server) -> None:
    client = server.register("alone@example.com", "1234")
    browser = OldBrowser(server.url, client.settings)
    start = time.monotonic()
    error = failure(lambda: client.authenticate_access_number("1234", browser.wid))
    assert (error.status, error.http_status) == (Status.REQUEST_EXPIRED, 408)
    assert 9 < time.monotonic() - start < 30


def test_a_phone_logs_a_browser_in_by_code(server: Server) -> None:
    client = server.register("code@example.com", "1234")
    browser = OldBrowser(server.url, client.settings, code=True)
    details = client.report_code("wid", browser.wid)
    assert {"PrerollId", "AppName", "AppLogoUrl"} <= details.keys()
    assert browser.poll()["status"] == "wid"
    assert client.report_code("user", browser.wid, "code@example.com") == {"Status": "OK"}
    seen = browser.poll()
    assert (seen["status"], seen["userId"]) == ("user", "code@example.com")
    log_in(browser, lambda: client.authenticate_wid("1234", browser.wid))
    assert b"code@example.com" in browser.get("/account").body


def test_without_time_permits(other: Callable[..., Server]) -> None:
    server = other("--no-time-permits")
    client = server.register("plain@example.com", "1234")
    assert client.settings["usePermits"] is False
    assert failure(lambda: client.authenticate("1235")).status is Status.INCORRECT_PIN
    client.authenticate("1234")


def test_permits_from_the_storage(other: Callable[..., Server]) -> None:
    server = other("--store-permits")
    client = server.register("stored@example.com", "1234")
    client.authenticate("1234")
    date, share = client._permit or (0, "")
    hash_id = crypto.hash_id(client.mpin_id).hex()
    stored = send("GET", f"{client.settings['timePermitsStorageURL']}/{client.settings['appID']}/{date}/{hash_id}")
    assert (stored.status, stored.body.decode()) == (200, share)


def test_the_website_takes_a_permit_away(other: Callable[..., Server], tmp_path: pathlib.Path) -> None:
    revoked = tmp_path / "revoked"
    revoked.write_text("other@example.com\n")
    server = other("--revoked-users", str(revoked))
    client = server.register("gone@example.com", "1234")
    client.authenticate("1234")
    revoked.write_text("gone@example.com\n")
    error = failure(lambda: client.authenticate("1234"))
    assert (error.status, error.http_status) == (Status.REVOKED, 410)


def test_identities_outlive_a_crash_and_tokens_do_not(other: Callable[..., Server]) -> None:
    server = other()
    client = server.register("crash@example.com", "1234")
    old = client.passes("1234")
    server.stop(signal.SIGKILL)
    server.start()
    client.authenticate("1234")
    answer = send("POST", client.settings["authenticateURL"], {"mpinResponse": old})
    assert answer.status == 408, "what was begun before the crash is over"


def test_identifiers_in_upper_case(server: Server) -> None:
    client = server.register("upper@example.com", "1234")
    permit = send("GET", f"{client.settings['timePermitsURL']}/{client.mpin_id.hex().upper()}")
    assert permit.status == 200
    passed = client.passes("1234")
    answer = send(
        "POST", client.settings["authenticateURL"], {"mpinResponse": {"authOTT": passed["authOTT"].upper()}}
    )
    assert answer.status == 200
