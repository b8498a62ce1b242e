"""The life of an app's session: login, renewal, many threads and processes, a bad network, APIs, logout."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import parse_qs, urlsplit

import mpin
import pytest
import requests
from phone import Phone
from relying_party import Person
from session_fixtures import API, BACKEND, PIN, PUBLIC, App, answer, ask, say
from session_process import provider

#: Longer than an access token of the provider lives.
LATER = 1200
TOKEN = "/oidc/token"


def test_login_by_pin(app: App) -> None:
    """A PIN in the app gives tokens and a profile; nothing is asked again after a new start."""
    session = app.log_in()
    assert app.events == [("SIGNING_IN", "app"), ("SIGNED_IN", "app")]
    assert session.state is mpin.SessionState.SIGNED_IN and session.last_provider == "app"
    # This server activates users without a mail.
    assert session.profile.email == app.user and session.profile.email_verified == "false"
    assert session.profile.sub and session.profile.picture == ""
    assert session.can_renew and session.has_valid(800) and not session.has_valid(1000)
    assert abs(session.expiry - time.time() - 900) < 60
    assert set(session.scope.split()) == {"openid", "profile", "email", "offline_access"}
    token = session.access_token()
    assert requests.get(API, headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert session.id_token.count(".") == 2
    app.proxy.reset()
    again = app.open()
    assert again.access_token() == token and app.proxy.asked[TOKEN] == 0
    assert again.profile == session.profile and len(app.asked) == 1


def test_secrets_are_sealed(app: App) -> None:
    """No token and no claim is in a file in plain text, and only the owner can read the files."""
    session = app.log_in()
    for path in app.folder.iterdir():
        assert path.stat().st_mode & 0o077 == 0
        text = path.read_bytes()
        assert session.access_token().encode() not in text and app.user.encode() not in text


def test_wrong_pin_and_cancel(app: App) -> None:
    """A wrong PIN is asked for again with the number of tries; a cancelled question ends the login only."""
    session = app.open()
    app.pins = ["9999", PIN]
    session.login("app", app.user)
    assert [asked.attempts_left for asked in app.asked] == [None, 2]
    token = session.access_token()
    app.pins = [None]
    with pytest.raises(mpin.PinInputCanceledError):
        session.login("app", app.user)
    assert session.state is mpin.SessionState.SIGNED_IN and session.access_token() == token
    app.pins = ["9999", "9999", "9999", "9999"]
    with pytest.raises(mpin.IncorrectPinError):
        session.login("app", app.user)
    assert app.pins == ["9999"] and session.access_token() == token


def test_login_refused(app: App) -> None:
    """Logins that cannot work say why."""
    session = app.open()
    with pytest.raises(mpin.ProviderUnknownError):
        session.login("nowhere", app.user)
    with pytest.raises(mpin.FlowError):
        session.login("app", "nobody@example.com")
    for call in (session.access_token, session.renew, session.handover):
        with pytest.raises(mpin.NoCredentialsError):
            call()
    silent = app.open(ask_pin=None)
    with pytest.raises(mpin.InteractionNotAllowedError):
        silent.login("app", app.user)
    assert session.state is mpin.SessionState.SIGNED_OUT
    assert session.profile.sub == "" and session.id_token == "" and session.expiry == 0


def test_renewal(app: App) -> None:
    """An expired token is renewed on use, before it ends; the new tokens are stored."""
    session = app.log_in()
    token, profile = session.access_token(), session.profile
    app.later = 850
    new = session.access_token()
    assert new != token and session.profile == profile and app.proxy.renewals() == 1
    assert app.open().access_token() == new
    session.renew()
    assert session.access_token() != new and app.proxy.renewals() == 2
    assert session.scope == app.open().scope


def test_scope_and_lifetime(app: App) -> None:
    """Other scopes are asked for by a renewal; a token that cannot live long enough is an error that says so."""
    session = app.log_in()
    session.access_token("email  OPENID profile offline_access")
    assert app.proxy.renewals() == 0
    session.access_token("openid")
    assert app.proxy.renewals() == 1 and session.scope == "openid"
    session.access_token()
    assert app.proxy.renewals() == 1
    with pytest.raises(mpin.LargeMinTTLError):
        session.access_token(min_ttl=100_000)
    assert session.state is mpin.SessionState.SIGNED_IN and app.proxy.renewals() == 2


def test_fifty_threads_make_one_renewal(app: App) -> None:
    session = app.log_in()
    app.later = LATER
    with ThreadPoolExecutor(50) as threads:
        tokens = set(threads.map(lambda _: session.access_token(), range(50)))
    assert len(tokens) == 1 and app.proxy.renewals() == 1


def test_eight_processes_make_one_renewal(app: App) -> None:
    app.log_in()
    with ExitStack() as running:
        children = [running.enter_context(app.process(later=LATER)) for _ in range(8)]
        for child in children:
            say(child, "token")
        assert len({answer(child) for child in children}) == 1
        assert app.proxy.renewals() == 1


def test_fifty_threads_in_each_of_eight_processes_make_one_renewal(app: App) -> None:
    app.log_in()
    # The renewal takes so long that all of them come while it is under way.
    app.proxy.answers[TOKEN] = lambda tokens: time.sleep(1) or tokens
    with ExitStack() as running:
        children = [running.enter_context(app.process(later=LATER)) for _ in range(8)]
        for child in children:
            say(child, "threads 50")
        tokens = {answer(child) for child in children}
        assert len(tokens) == 1 and " " not in tokens.pop()
        assert app.proxy.renewals() == 1


def test_part_that_leaves_renewals_to_the_app(app: App) -> None:
    """An extension, which the system may end at any time, uses the tokens of the app and never renews them."""
    session, part = app.log_in(), app.open(renews=False)
    assert part.access_token() == session.access_token()
    refused = part.authorization(API)
    for call_ in (part.renew, lambda: part.access_token("openid"), lambda: part.authorization(API, refused)):
        with pytest.raises(mpin.RenewFailedError):
            call_()
    app.later = LATER
    with pytest.raises(mpin.RenewFailedError):
        part.access_token(may_interact=True)
    assert part.state is mpin.SessionState.SIGNED_IN and app.proxy.renewals() == 0
    assert session.access_token() == part.access_token() and app.proxy.renewals() == 1
    app.proxy.requests[TOKEN] = lambda _: b"grant_type=refresh_token&refresh_token=x&client_id=app"
    with pytest.raises(mpin.LoginRequiredError):
        session.renew()
    app.proxy.reset()
    with pytest.raises(mpin.LoginRequiredError):
        part.access_token()
    session.logout()
    with pytest.raises(mpin.NoCredentialsError):
        part.access_token()
    assert app.proxy.renewals() == 0


def test_failed_renewal_is_shared(app: App) -> None:
    """Who waits for a renewal gets its failure, and does not ask a dead network again."""
    session = app.log_in()
    app.later = LATER
    everybody = threading.Barrier(20)
    app.proxy.requests[TOKEN] = lambda _: None

    def token(_: int) -> str:
        everybody.wait()
        try:
            return session.access_token()
        except mpin.NetworkError:
            return ""

    with ThreadPoolExecutor(20) as threads:
        assert set(threads.map(token, range(20))) == {""}
    # A request is repeated once. A thread that came after the failure asks again.
    assert app.proxy.renewals() < 40
    app.proxy.reset()
    assert session.access_token()


def test_other_process_logs_out(app: App) -> None:
    """A logout in one process is seen by all at once, and a login too."""
    session = app.log_in()
    with app.process() as child:
        assert ask(child, "token") == session.access_token()
        session.logout()
        assert ask(child, "token") == "NO_CREDENTIALS" and ask(child, "state") == "SIGNED_OUT"
        app.pins.append(PIN)
        session.login("app", app.user)
        assert ask(child, "token") == session.access_token()
        assert ask(child, "logout") == "done"
        assert session.state is mpin.SessionState.SIGNED_OUT


#: What somebody does to the files beside the session of an app that runs.
HARM = {
    "remove": "rm -f store.session.*",
    "cut": "for file in store.session.*; do : >$file; done",
    "replace": "for file in store.session.*; do rm $file && ln -s /dev/null $file; done; rm store.session.lock",
}


@pytest.mark.parametrize("harm", HARM)
def test_harm_to_the_files_beside(app: App, harm: str) -> None:
    """Neither ends a process, and no process misses the logout of another one."""
    session = app.log_in()
    with app.process() as child:
        assert ask(child, "state") == "SIGNED_IN"
        subprocess.run(["sh", "-c", f"touch store.session.generation; {HARM[harm]}"], cwd=app.folder, check=True)
        assert ask(child, "token") == session.access_token()
        app.open().logout()
        assert ask(child, "state") == "SIGNED_OUT" and session.state is mpin.SessionState.SIGNED_OUT


#: Gives the folder $0 a small disk of its own with the same files, fills it, and runs the program.
FULL = """mkdir "$0.kept" && cp -a "$0/." "$0.kept" && mount -t tmpfs -o size=256k none "$0" && cp -a "$0.kept/." "$0" &&
    rm -f "$0"/*.generation && { cat /dev/zero >"$0/rest" 2>/dev/null; exec "$@"; }"""
NAMESPACE = ("unshare", "--map-root-user", "--mount")


def test_full_disk(app: App) -> None:
    """An app that starts on a full disk has the tokens that are stored, and can store no others."""
    subprocess.run([*NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"], check=True)
    token = app.log_in().access_token()
    with app.process(*NAMESPACE, "sh", "-c", FULL, str(app.folder)) as child:
        assert ask(child, "token") == token and ask(child, "state") == "SIGNED_IN"
        assert ask(child, "logout") == "STORAGE_ERROR" and ask(child, "state") == "SIGNED_IN"


def test_cached_token_makes_one_system_call(app: App) -> None:
    """It asks whether another process has changed the session's file."""
    app.log_in()
    trace = app.folder / "trace"
    with app.process("strace", "-f", "-o", str(trace)) as child:
        assert ask(child, "cached") == "done"
    lines = trace.read_text().split("getppid()")
    assert len(lines) == 3
    calls = re.findall(r"^\d+ +(\w+)\(", lines[1], re.MULTILINE)
    # The interpreter may ask for memory.
    asked = [name for name in calls if name not in ("brk", "mmap", "munmap", "madvise", "mremap")]
    assert asked and set(asked) <= {"stat", "newfstatat", "statx"} and len(asked) <= 1000, asked


def test_lost_answer(app: App) -> None:
    """The provider has renewed, and its answer is lost: the same refresh token is sent again at once."""
    session = app.log_in()
    app.later = LATER
    lost: list[bytes] = []

    def lose(body: bytes) -> bytes | None:
        lost.append(body)
        return None if len(lost) == 1 else body

    app.proxy.answers[TOKEN] = lose
    assert session.access_token() and app.proxy.renewals() == 2
    session.renew()
    assert session.state is mpin.SessionState.SIGNED_IN


@pytest.mark.parametrize("moment", ["requests", "answers"])
def test_killed_in_a_renewal(app: App, moment: str) -> None:
    """A process that is killed while it renews, before or after the provider has done so, loses no session."""
    session = app.log_in()
    with app.process(later=LATER) as child:

        def kill(body: bytes) -> bytes:
            child.kill()
            child.wait()
            return body

        getattr(app.proxy, moment)[TOKEN] = kill
        assert ask(child, "token") == ""
    app.proxy.reset()
    app.later = LATER
    assert session.access_token() and session.state is mpin.SessionState.SIGNED_IN
    session.renew()


def test_refresh_token_used_twice(app: App) -> None:
    """Somebody has copied the session. When the provider notices, all of them must log in again."""
    session = app.log_in()
    copies = []
    for number in range(3):
        copy = App(app.folder / f"copy-{number}", app.user, app.proxy, later=LATER, online=False)
        copy.folder.mkdir()
        for path in app.folder.glob("store*"):
            shutil.copy(path, copy.folder)
        copies.append(copy)
    app.later = LATER
    session.renew()
    session.renew()
    outcomes = []
    for copy in copies:
        try:
            copy.open().access_token()
            outcomes.append("renewed")
        except mpin.LoginRequiredError:
            outcomes.append("refused")
    assert outcomes[-1] == "refused", outcomes
    with pytest.raises(mpin.LoginRequiredError):
        session.renew()
    assert session.state is mpin.SessionState.REVOKED and app.events[-1] == ("REVOKED", "app")
    assert session.profile.email == app.user and not session.has_valid() and not session.can_renew
    # The PIN is all that is needed.
    with pytest.raises(mpin.LoginRequiredError):
        session.access_token()
    app.pins.append(PIN)
    assert session.access_token(may_interact=True) and session.state is mpin.SessionState.SIGNED_IN


def test_start_offline(app: App) -> None:
    """Without a network a valid token works, an expired one fails, and nobody is logged out."""
    token = app.log_in().access_token()
    app.proxy.stop()
    try:
        app.online = False
        session = app.open()
        assert session.access_token() == token
        app.later = LATER
        with pytest.raises(mpin.NetworkError):
            session.access_token()
        assert session.state is mpin.SessionState.SIGNED_IN and session.profile.email == app.user
    finally:
        app.proxy.start()
    assert session.access_token() != token


@pytest.mark.parametrize("answer, error", [
    (b'{"error":"invalid_client"}', mpin.RenewFailedError),
    (b'{"error":"invalid_scope"}', mpin.RenewFailedError),
    (b"not JSON", mpin.RenewFailedError),
])
def test_refused_renewal_that_is_not_the_users_fault(app: App, answer: bytes, error: type[mpin.MPinError]) -> None:
    """Only a refused refresh token ends a session; any other refusal leaves it."""
    session = app.log_in()
    app.later = LATER
    # A refresh token that is no token makes the provider answer 400; what it says is then replaced.
    app.proxy.requests[TOKEN] = lambda _: b"grant_type=refresh_token&refresh_token=x&client_id=app"
    app.proxy.answers[TOKEN] = lambda _: answer
    with pytest.raises(error):
        session.access_token()
    assert session.state is mpin.SessionState.SIGNED_IN
    app.proxy.reset()
    assert session.access_token()


@pytest.mark.parametrize("later", [-600, 600])
def test_wrong_clock(app: App, later: float) -> None:
    """The clock of the device is ten minutes wrong: login and renewal work, and tokens live as long as they should."""
    app.later = later
    session = app.log_in()
    assert session.has_valid(800) and not session.has_valid(1000)
    session.renew()
    assert abs(session.expiry - (time.time() + later) - 900) < 60


def test_token_without_refresh(app: App) -> None:
    """Without a refresh token the session expires; the user is asked for the PIN if that is allowed."""
    session = app.open()
    session.add_provider(mpin.Provider("once", "once", PUBLIC, redirect_uri="http://127.0.0.1/callback", scope="openid"))
    app.pins = [PIN]
    session.login("once", app.user)
    assert not session.can_renew
    app.later = LATER
    assert session.state is mpin.SessionState.EXPIRED
    with pytest.raises(mpin.NoRefreshTokenError):
        session.access_token()
    app.pins = [PIN]
    assert session.access_token(may_interact=True) and session.state is mpin.SessionState.SIGNED_IN


def call(session: mpin.Session, may_interact: bool = False) -> int:
    """Calls the API by the rule for 401."""
    value = session.authorization(API, may_interact=may_interact)
    status = requests.get(API, headers={"Authorization": value}).status_code
    if status == 401:
        value = session.authorization(API, value, may_interact)
        status = requests.get(API, headers={"Authorization": value}).status_code
    return status


def test_api_answers_401(app: App) -> None:
    """A refused token is renewed once, and the request is sent again once; a newer token is used without a renewal."""
    session = app.log_in()
    assert call(session) == 200
    old = session.authorization(API)
    app.proxy.refused.add(session.access_token())
    assert call(session) == 200 and app.proxy.renewals() == 1
    # Another thread has seen the 401 later.
    assert session.authorization(API, old) == session.authorization(API) != old
    assert app.proxy.renewals() == 1


def test_api_answers_401_after_revocation(app: App) -> None:
    """The provider has ended the session: the PIN is asked for if that is allowed, else the call says so."""
    session = app.log_in()
    other = app.open()
    app.proxy.requests[TOKEN] = lambda _: b"grant_type=refresh_token&refresh_token=x&client_id=app"
    app.proxy.refused.add(session.access_token())
    with pytest.raises(mpin.LoginRequiredError):
        call(session)
    app.proxy.requests.clear()
    assert other.state is mpin.SessionState.REVOKED
    app.pins = [PIN]
    assert call(session, may_interact=True) == 200


def test_provider_that_ends_on_401(app: App) -> None:
    session = app.log_in()
    described = mpin.Provider(
        "app", "app", PUBLIC, redirect_uri="http://127.0.0.1/callback", origins=[PUBLIC], ends_on_401=True)
    session.add_provider(described)
    app.proxy.refused.add(session.access_token())
    with pytest.raises(mpin.LoginRequiredError):
        call(session)
    assert session.state is mpin.SessionState.SIGNED_OUT and app.proxy.renewals() == 0


@pytest.mark.parametrize("url", [
    "https://elsewhere.example/api", PUBLIC.replace("127.0.0.1", "localhost"), PUBLIC.replace("http:", "https:"),
    PUBLIC + "0", PUBLIC.replace("://", "://app@"), "/api",
])
def test_token_goes_to_registered_origins_only(app: App, url: str) -> None:
    session = app.log_in()
    with pytest.raises(mpin.UntrustedDomainError):
        session.authorization(url)


def test_logout(app: App) -> None:
    """A logout deletes the tokens, and the provider revokes them. The provider is remembered."""
    session = app.log_in()
    token = session.access_token()
    copy = App(app.folder / "copy", app.user, app.proxy, online=False)
    copy.folder.mkdir()
    for path in app.folder.glob("store*"):
        shutil.copy(path, copy.folder)
    session.logout(everywhere=True)
    assert session.state is mpin.SessionState.SIGNED_OUT and app.events[-1] == ("SIGNED_OUT", "app")
    assert session.last_provider == "app" and session.profile.sub == ""
    assert requests.get(API, headers={"Authorization": f"Bearer {token}"}).status_code == 401
    with pytest.raises(mpin.LoginRequiredError):
        copy.open().renew()
    session.logout()
    # The user is still there.
    app.pins = [PIN]
    session.login("app", app.user)


def test_logout_offline(app: App) -> None:
    """Without a network the user is logged out here, and the provider is told later."""
    session = app.log_in()
    token = session.access_token()
    app.proxy.stop()
    try:
        session.logout()
        assert session.state is mpin.SessionState.SIGNED_OUT
    finally:
        app.proxy.start()
    header = {"Authorization": f"Bearer {token}"}
    assert requests.get(API, headers=header).status_code == 200
    app.log_in()
    assert requests.get(API, headers=header).status_code == 401 and app.proxy.asked["/oidc/revoke"] == 1


def test_logout_during_a_renewal(app: App) -> None:
    """A logout does not wait for a renewal that is under way, and the renewal's tokens are revoked."""
    session, other = app.log_in(), app.open()
    app.later = LATER

    def log_out(body: bytes) -> bytes:
        app.proxy.answers.clear()
        other.logout()
        return body

    app.proxy.answers[TOKEN] = log_out
    with pytest.raises(mpin.NoCredentialsError):
        session.access_token()
    assert session.state is mpin.SessionState.SIGNED_OUT
    app.log_in()
    assert app.proxy.asked["/oidc/revoke"] == 2


def test_revoke_and_clear(app: App) -> None:
    session = app.log_in()
    token = session.access_token()
    app.proxy.requests["/oidc/revoke"] = lambda _: None
    with pytest.raises(mpin.RevokeFailedError):
        session.revoke()
    assert session.access_token() == token
    app.proxy.reset()
    session.revoke()
    assert session.state is mpin.SessionState.SIGNED_OUT
    assert requests.get(API, headers={"Authorization": f"Bearer {token}"}).status_code == 401
    app.pins = [PIN]
    session.login("app", app.user)
    token = session.access_token()
    session.clear()
    assert session.state is mpin.SessionState.SIGNED_OUT
    assert requests.get(API, headers={"Authorization": f"Bearer {token}"}).status_code == 200
    session.revoke()
    session.clear()


def test_handover(app: App) -> None:
    """A smaller app gets a token of its own, with fewer rights, that ends with the session."""
    session = app.log_in()
    token = session.handover(PUBLIC, "openid")
    assert token != session.access_token()
    header = {"Authorization": f"Bearer {token}"}
    assert set(requests.get(f"{BACKEND}/oidc/userinfo", headers={**header, "Host": urlsplit(PUBLIC).netloc}).json()) == {"sub"}
    with pytest.raises(mpin.ExchangeFailedError):
        session.handover("https://unknown.example")
    session.logout()
    assert requests.get(API, headers=header).status_code == 401


def test_login_in_the_browser(app: App) -> None:
    """The system's browser logs in at the provider's page and comes back to a port of this machine."""
    person = Person(PUBLIC, Phone(PUBLIC, app.user).register(PIN), PIN)
    pages: list[str] = []

    def browse() -> None:
        person.open(url[0])
        target = person.log_in().headers["Location"]
        # Browsers ask for icons, and open connections that they do not use.
        pages.append(requests.get(target.split("/callback")[0] + "/favicon.ico").text)
        pages.append(requests.get(re.sub("state=[^&]*", "state=x", target)).text)
        pages.append(requests.get(target).text)

    url: list[str] = []

    def open_browser(address: str) -> bool:
        url.append(address)
        threads.append(threading.Thread(target=browse))
        threads[0].start()
        return True

    threads: list[threading.Thread] = []
    session = app.open(open_browser=open_browser)
    session.add_provider(mpin.Provider(
        "web", "app", PUBLIC, mpin.Login.BROWSER, redirect_uri="http://127.0.0.1/callback"))
    session.login("web", app.user)
    threads[0].join()
    assert ["Not found" in page for page in pages] == [True, True, False]
    assert session.profile.email == app.user and session.last_provider == "web"
    query = parse_qs(urlsplit(url[0]).query)
    assert query["code_challenge_method"] == ["S256"] and query["login_hint"] == [app.user]


def test_login_that_another_app_passes_on(app: App) -> None:
    """An app with a redirect URI of its own passes on where the browser has come back to; a wrong state is refused."""
    opened = threading.Event()
    session = app.open(open_browser=lambda url: opened.set() or True)
    session.add_provider(mpin.Provider(
        "web", "app", PUBLIC, mpin.Login.BROWSER, redirect_uri="com.example.app:/callback"))
    with pytest.raises(mpin.FlowError):
        session.resume("com.example.app:/callback?code=1&state=2")
    with ThreadPoolExecutor(1) as thread:
        login = thread.submit(session.login, "web")
        assert opened.wait(60)
        session.resume("com.example.app:/callback?code=1&state=2")
        with pytest.raises(mpin.LoginRefusedError):
            login.result()


def test_cancel(app: App) -> None:
    """A login that waits for the browser can be cancelled."""
    opened = threading.Event()
    session = app.open(open_browser=lambda url: opened.set() or True)
    session.add_provider(mpin.Provider("web", "app", PUBLIC, mpin.Login.BROWSER))
    with ThreadPoolExecutor(1) as thread:
        login = thread.submit(session.login, "web")
        assert opened.wait(60) and session.state is mpin.SessionState.SIGNING_IN
        session.cancel()
        with pytest.raises(mpin.CanceledError):
            login.result()
    assert session.state is mpin.SessionState.SIGNED_OUT


def test_login_by_device_code(app: App) -> None:
    """A program without a browser shows a code, which its user types in a browser elsewhere."""
    person = Person(PUBLIC, Phone(PUBLIC, app.user).register(PIN), PIN)
    shown: list[mpin.DeviceCode] = []

    def type_code(code: mpin.DeviceCode) -> None:
        shown.append(code)
        person.open(code.url, method="POST", data={"user_code": code.user_code}, headers={"Origin": PUBLIC})
        person.log_in()
        person.press("/authorize/confirm", step="consent", answer="yes")

    session = app.open(show_code=type_code)
    scope = "openid email offline_access"
    session.add_provider(mpin.Provider("tv", "tv", PUBLIC, mpin.Login.DEVICE_CODE, scope=scope))
    session.login("tv")
    assert session.profile.email == app.user and session.can_renew and shown[0].complete_url
    session.renew()


def test_time_of_a_device_code(app: App) -> None:
    """The time goes on while the code is shown, and a callback may end the login."""
    for wait, scope, expected in ((1.2, "openid", mpin.TimedOutError), (0, "openid", mpin.CanceledError)):
        show = (lambda _: session.cancel()) if not wait else (lambda _: time.sleep(wait))
        session = app.open(show_code=show, login_timeout=1 if wait else 60)
        session.add_provider(mpin.Provider("tv", "tv", PUBLIC, mpin.Login.DEVICE_CODE, scope=scope))
        app.proxy.reset()
        with pytest.raises(expected):
            session.login("tv")
        assert app.proxy.asked[TOKEN] == 0


def test_session_in_memory(app: App) -> None:
    """A session with an empty path writes no file, is renewed like others, and is that of one object."""
    before = set(app.folder.iterdir())
    sdk = mpin.SDK(app.store, backend=PUBLIC)
    session, other = (mpin.Session(sdk, "", ask_pin=lambda _: PIN) for _ in range(2))
    for each in (session, other):
        each.add_provider(provider("app"))
    session.login("app", app.user)
    token = session.access_token()
    with ThreadPoolExecutor(10) as pool:
        renewed = set(pool.map(lambda _: session.authorization(API, rejected=f"Bearer {token}"), range(10)))
    assert len(renewed) == 1 and f"Bearer {token}" not in renewed and app.proxy.renewals() == 1
    assert other.state is mpin.SessionState.SIGNED_OUT
    session.logout()
    assert session.state is mpin.SessionState.SIGNED_OUT
    assert set(app.folder.iterdir()) == before


def test_oauth_without_openid(app: App) -> None:
    """A provider without OpenID Connect is described by its URLs, and by its names of the claims."""
    session = app.open(open_browser=lambda url: bool(browsers.append(threading.Thread(target=browse, args=(url,)))
                                                     or browsers[-1].start() or True))
    browsers: list[threading.Thread] = []
    person = Person(PUBLIC, Phone(PUBLIC, app.user).register(PIN), PIN)

    def browse(url: str) -> None:
        person.open(url)
        requests.get(person.log_in().headers["Location"])

    session.add_provider(mpin.Provider(
        "plain", "app", login=mpin.Login.BROWSER, authorization_endpoint=f"{PUBLIC}/authorize",
        token_endpoint=f"{PUBLIC}/oidc/token", userinfo_endpoint=f"{PUBLIC}/oidc/userinfo",
        revocation_endpoint=f"{PUBLIC}/oidc/revoke", claim_names={"name": "email"}, origins=[PUBLIC]))
    session.login("plain")
    browsers[0].join()
    assert session.profile.name == app.user and session.profile.sub
    session.renew()
    assert call(session) == 200
    session.logout()


def test_damaged_file(app: App) -> None:
    """A session that cannot be read is a logout. The users are not affected, and the file is kept for a look."""
    app.log_in()
    path = pathlib.Path(app.store + ".session")
    path.write_bytes(path.read_bytes()[:-20])
    session = app.open()
    assert session.state is mpin.SessionState.SIGNED_OUT
    app.pins = [PIN]
    session.login("app", app.user)
    assert list(app.folder.glob("store.session.damaged-*"))


def test_sdk_is_closed_first(app: App) -> None:
    session = app.log_in()
    session._sdk.close()
    with pytest.raises(mpin.InvalidHandleError):
        session.access_token()
    session.close()


def test_arguments(app: App) -> None:
    """Wrong descriptions are refused with a reason."""
    session = app.open()
    for described in (
        mpin.Provider("", "app", PUBLIC), mpin.Provider("x", "", PUBLIC), mpin.Provider("x", "app"),
        mpin.Provider("x", "app", PUBLIC, origins=["nothing"]), mpin.Provider("x", "app", PUBLIC, claim_names={"a=b": "c"}),
    ):
        with pytest.raises(mpin.InvalidArgumentError):
            session.add_provider(described)
    session.add_provider(provider())
    with pytest.raises(mpin.InvalidArgumentError):
        session.access_token(min_ttl=-1)
