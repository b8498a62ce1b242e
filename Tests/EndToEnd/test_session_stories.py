"""Lines of the list for acceptance that are whole stories: a new user, a silent login, a stolen code, a forgotten PIN, an
app that is started too late."""

from __future__ import annotations

import hashlib
import json
import pathlib
import re
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import mpin
import pytest
import requests
from node import PROGRAM, Server
from old_client import Mailbox
from phone import Phone
from relying_party import Person
from session_fixtures import API, BACKEND, NAMED_PORT, PIN, PUBLIC, App, able_to_listen, ask
from session_process import provider

TOKEN = "/oidc/token"
LATER = 1200
#: The secret of the client that is the back end of an app.
SECRET = "a secret of the tests " * 4
GUIDE = pathlib.Path(__file__).parents[2] / "docs/keep-your-users-logged-in.md"


@contextmanager
def browsing(app: App, use: Callable[[str], None], redirect_uri: str | None = None) -> Iterator[mpin.Session]:
    """A session that opens a browser, which `use` uses meanwhile."""

    def in_browser(url: str) -> None:
        try:
            use(url)
        except BaseException:
            session.cancel()
            raise

    def open_browser(url: str) -> bool:
        done.append(hands.submit(in_browser, url))
        return True

    done: list[Future[None]] = []
    with ThreadPoolExecutor(1) as hands:
        session = app.open(open_browser=open_browser)
        session.add_provider(mpin.Provider("web", "app", PUBLIC, mpin.Login.BROWSER, redirect_uri=redirect_uri))
        try:
            yield session
        finally:
            for each in done:
                each.result()


def registered(user: str) -> Phone:
    return Phone(PUBLIC, user).register(PIN)


def come_back(answer: Any) -> None:
    requests.get(answer.headers["Location"]).raise_for_status()


def test_new_user_silent_login_and_returning_user(app: App) -> None:
    """A new user registers while the browser shows a QR code, and scans it. Then the same browser asks for nothing, and
    another one for the PIN."""
    person = Person(PUBLIC, Phone(PUBLIC, f"new-{app.user}"), PIN)

    def scan(url: str) -> None:
        person.open(url)
        person.phone.register(PIN)
        done = person.enter_pin(person.scanned(app.folder))
        person.await_phone()
        come_back(person.press("/authorize/login"))
        done.result()

    def look(url: str) -> None:
        come_back(person.open(url))

    def type_pin(url: str) -> None:
        person.browser = requests.Session()
        person.open(url)
        come_back(person.log_in())

    steps = [scan, look, type_pin]
    with browsing(app, lambda url: steps.pop(0)(url)) as session:
        subjects = set()
        while steps:
            session.login("web")
            assert session.profile.email == person.phone.user
            subjects.add(session.profile.sub)
        assert len(subjects) == 1


def test_redirect_uri_of_the_app(app: App) -> None:
    """The system starts the app with the URL that the browser has come back to, and the app passes it on."""
    person = Person(PUBLIC, registered(app.user), PIN)

    def use(url: str) -> None:
        person.open(url)
        target = person.log_in().headers["Location"]
        assert target.startswith("com.example.app:/callback?")
        session.resume(target)

    with browsing(app, use, "com.example.app:/callback") as session:
        session.login("web")
        assert session.profile.email == app.user
        session.renew()


@pytest.mark.parametrize("uri", ["http://[::1]/callback?from=home", f"http://localhost:{NAMED_PORT}/callback"])
def test_host_of_the_redirect_uri(app: App, uri: str) -> None:
    """The browser comes back to the host that the app names. This provider lets the port of an address differ, and not
    that of a name (RFC 8252 section 8.3)."""
    person, targets = Person(PUBLIC, registered(app.user), PIN), []

    def use(url: str) -> None:
        person.open(url)
        answer = person.log_in()
        targets.append(answer.headers["Location"])
        come_back(answer)

    with able_to_listen(uri), browsing(app, use, uri) as session:
        session.login("web")
        assert session.profile.email == app.user
        for printed, sent in zip(urlsplit(uri), urlsplit(targets[0])):
            assert sent.startswith(printed.removesuffix(f":{NAMED_PORT}"))
        assert NAMED_PORT not in uri or targets[0].startswith(uri)


def test_code_used_twice(app: App) -> None:
    """Somebody has seen the code and uses it, too. The provider refuses, and ends the session that came from it."""
    forms: list[bytes] = []
    app.proxy.requests[TOKEN] = lambda form: forms.append(form) or form
    session = app.log_in()
    app.proxy.requests.clear()
    header = {"Authorization": session.authorization(API)}
    assert requests.get(API, headers=header).status_code == 200
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    stolen = requests.post(PUBLIC + TOKEN, data=forms[0], headers=kind)
    assert (stolen.status_code, stolen.json()["error"]) == (400, "invalid_grant")
    assert requests.get(API, headers=header).status_code == 401
    with pytest.raises(mpin.LoginRequiredError):
        session.renew()
    assert session.state is mpin.SessionState.REVOKED


def test_killed_in_a_renewal_and_started_too_late(app: App) -> None:
    """The provider has renewed, the app was killed, and the time is over in which the old refresh token is accepted: the
    user is asked for the PIN, and nothing else is lost."""
    session = app.log_in()
    lost: list[str] = []
    with app.process(later=LATER) as child:

        def kill(answer: bytes) -> bytes:
            lost.append(json.loads(answer)["refresh_token"])
            child.kill()
            child.wait()
            return answer

        app.proxy.answers[TOKEN] = kill
        assert ask(child, "token") == ""
    app.proxy.reset()
    # The use of the new token ends that time, as 30 seconds do.
    form = {"grant_type": "refresh_token", "refresh_token": lost[0], "client_id": "app"}
    requests.post(PUBLIC + TOKEN, data=form).raise_for_status()
    app.later = LATER
    with pytest.raises(mpin.LoginRequiredError):
        session.access_token()
    assert session.state is mpin.SessionState.REVOKED and session.profile.email == app.user
    app.pins = [PIN]
    assert session.access_token(may_interact=True) and session.state is mpin.SessionState.SIGNED_IN
    session.renew()


def test_open_question_holds_no_lock(app: App) -> None:
    """While the user is asked for the PIN, another process renews the session."""
    said: list[str] = []

    def ask_pin(_: mpin.PinRequest) -> str:
        said.append(ask(child, "renew"))
        return PIN

    app.log_in()
    with app.process() as child:
        app.open(ask_pin=ask_pin).login("app", app.user)
    assert said == ["done"]


def test_login_without_a_backend(app: App) -> None:
    """An app that was started without a network has named no backend. A login by PIN finds it."""
    app.online = False
    session = app.log_in()
    assert session.profile.email == app.user
    app.open().logout(everywhere=True)
    assert session.state is mpin.SessionState.SIGNED_OUT
    app.proxy.stop()
    try:
        with pytest.raises(mpin.NetworkError):
            app.open().login("app", app.user)
    finally:
        app.proxy.start()
    # Nobody has typed a PIN in vain, neither here nor in an app that had a network when it began.
    app.online = True
    session = app.open()
    app.proxy.stop()
    try:
        with pytest.raises(mpin.NetworkError):
            session.login("app", app.user)
    finally:
        app.proxy.start()
    assert not app.pins and len(app.asked) == 1
    app.pins = [PIN]
    session.login("app", app.user)


def test_backend_of_another_name(app: App, tmp_path: pathlib.Path) -> None:
    """A backend that the app has named stays, also if the issuer has another URL."""
    user = f"other-{app.user}"
    with mpin.SDK(tmp_path / "other", backend=BACKEND) as sdk:
        account = sdk.make_new_user(user)
        sdk.start_registration(account)
        sdk.confirm_registration(account)
        sdk.finish_registration(account, PIN)
        session = mpin.Session(sdk, ask_pin=lambda _: PIN)
        session.add_provider(provider())
        session.login("app", user)
        assert session.profile.email == user and sdk.list_backends() == [BACKEND]


@pytest.fixture
def mailing(tmp_path: pathlib.Path) -> Iterator[Server]:
    """A server that sends mails."""
    clients = tmp_path / "clients.yaml"
    clients.write_text(
        "- {id: app, auth-method: none, first-party: true, redirect-uri: ['http://127.0.0.1/callback'],"
        " grant: [authorization_code, refresh_token], scope: [openid, profile, email, offline_access]}\n"
        f"- {{id: back-end, secret-sha256: {hashlib.sha256(SECRET.encode()).hexdigest()},"
        " redirect-uri: ['https://app.example/callback'], scope: [openid]}\n")
    server = Server(tmp_path / "server", mails=tmp_path / "mails", options=["--clients", str(clients)])
    server.start()
    yield server
    server.close()


def test_account_with_a_forgotten_pin(mailing: Server, tmp_path: pathlib.Path) -> None:
    """An account of the app's own: the mail is verified, three wrong PINs block it, and the mail again gives a new PIN."""
    mails, user = Mailbox(tmp_path / "mails"), "own@example.com"
    pins = [PIN]
    with mpin.SDK(tmp_path / "store", backend=mailing.backend) as sdk:

        def register(pin: str) -> None:
            account = sdk.make_new_user(user)
            sdk.start_registration(account)
            with pytest.raises(mpin.IdentityNotVerifiedError):
                sdk.confirm_registration(account)
            mails.confirm(user)
            sdk.confirm_registration(account)
            sdk.finish_registration(account, pin)

        register(PIN)
        session = mpin.Session(sdk, ask_pin=lambda _: pins.pop(0))
        session.add_provider(mpin.Provider("home", "app", mailing.backend, redirect_uri="http://127.0.0.1/callback"))
        session.login("home", user)
        first = session.profile
        assert (first.email, first.email_verified) == (user, "true")
        pins[:] = ["9999", "9999", "9999", PIN]
        with pytest.raises(mpin.IncorrectPinError):
            session.login("home", user)
        blocked = sdk.get_user(user)
        assert blocked and blocked.state is mpin.State.BLOCKED and pins == [PIN]
        # Whoever is logged in stays so.
        session.renew()
        sdk.delete_user(blocked)
        register("2468")
        pins[:] = ["2468"]
        session.login("home", user)
        assert session.profile == first


def test_account_that_the_apps_back_end_begins(mailing: Server, tmp_path: pathlib.Path) -> None:
    """The app's back end knows who somebody is, begins the registration itself (RP-initiated activation), and hands the app
    a token that is good for one device. Nobody reads a mail, and a PIN then logs in."""
    user = "hired@example.com"
    words = [PROGRAM, "project", "add", "staff", "--client", "back-end", "--client", "app", "--state-dir", mailing.state]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    wish = {"json": {"userId": user, "deviceName": "phone"}, "timeout": 60}
    url = f"{mailing.backend}/activate/initiate"
    assert requests.post(url, auth=("back-end", "guessed"), **wish).status_code == 401
    begun = requests.post(url, auth=("back-end", SECRET), **wish)
    token = begun.json()["actToken"]
    with mpin.SDK(tmp_path / "store", backend=mailing.backend, client_id="staff") as sdk:
        account = sdk.make_new_user(user, customer_id="")
        sdk.start_registration_mfa(account, activate_code=token)
        sdk.confirm_registration(account)
        sdk.finish_registration(account, PIN)
        session = mpin.Session(sdk, ask_pin=lambda _: PIN)
        session.add_provider(mpin.Provider("home", "app", mailing.backend, redirect_uri="http://127.0.0.1/callback"))
        session.login("home", user)
        # The back end vouches for its user, who is not the one with the mailbox.
        assert not session.profile.email and session.profile.email_verified != "true"
        session.renew()
    with mpin.SDK(tmp_path / "thief", backend=mailing.backend, client_id="staff") as sdk:
        account = sdk.make_new_user(user, customer_id="")
        with pytest.raises(mpin.MPinError):
            sdk.start_registration_mfa(account, activate_code=token)
    assert not list((tmp_path / "mails").glob("*.eml"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_guide_in_python(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    """The example works as it is printed, with other names."""
    names = {
        "phone.store": app.store, "https://login.example.com": PUBLIC, "https://api.example.com/orders": API,
        "https://api.example.com": PUBLIC, "alice@example.com": app.user,
    }  # fmt: skip
    code, done = blocks("python")[0], {"input": lambda _: PIN}
    for printed, real in names.items():
        code = code.replace(f'"{printed}"', f'"{real}"')
    exec(code, done)
    assert capsys.readouterr().out == f"Hello {app.user}\n" and done["orders"].status_code == 200


@pytest.mark.parametrize("language, before, compiler", [
    ("c", "#include <mpin.h>\nmpin_status ask_pin(void *, const mpin_pin_request *, char *);\n"
          "mpin_status example(mpin_sdk *sdk);\nmpin_status example(mpin_sdk *sdk) {", ["gcc", "-std=c99"]),
    ("cpp", "#include <cxx/mpin_session.h>\nMPinSession::String AskPin(const MPinSession::String &);\n"
            "MPinSession::Status example(mpin_sdk *sdk) {", ["g++", "-std=c++11"]),
], ids=["C", "C++"])  # fmt: skip
def test_the_guide_compiles(language: str, before: str, compiler: list[str], tmp_path: pathlib.Path) -> None:
    source = tmp_path / f"guide.{language}"
    source.write_text("\n".join([before, *blocks(language), "return status; }", ""]))
    include = GUIDE.parents[1] / "include"
    subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{include}", source], check=True)


def test_the_guide_in_swift(app: App) -> None:
    """The example, with other names, is compiled as a program of its own, with the modules that `make cli` has built."""
    code = blocks("swift")[0]
    names = {
        "phone.store": app.store, "https://login.example.com": PUBLIC, "https://api.example.com/orders": API,
        "https://api.example.com": PUBLIC, "alice@example.com": app.user,
    }  # fmt: skip
    for printed, real in names.items():
        assert f'"{printed}"' in code
        code = code.replace(f'"{printed}"', f'"{real}"')
    program = compiled(app.folder, f"""import MPin

func askPIN(_ user: String) async -> PIN? {{
    print("PIN of \\(user)")
    return PIN("{PIN}")
}}

{code}print(orders.status)
""")
    for said in (f"PIN of {app.user}\n200\n", "200\n"):
        # The second start finds the session.
        assert subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout == said


def compiled(folder: pathlib.Path, code: str) -> pathlib.Path:
    """A Swift program that uses the product MPin."""
    root = GUIDE.parents[1]
    built = root / ".build/release"
    objects = (built / "mpin-cli.product/Objects.LinkFileList").read_text().splitlines()
    (folder / "objects").write_text("\n".join(each for each in objects if "/mpin_cli.build/" not in each))
    (folder / "main.swift").write_text(code)
    # The modules of C libraries, which the package tells a program that depends on it.
    modules = [built / "Modules", *(path.parent for path in root.glob("Sources/C*/**/module.modulemap"))]
    libraries = subprocess.run(
        ["pkg-config", "--libs", "gmp", "libsodium", "jansson"], stdout=subprocess.PIPE, text=True, check=True)
    command = ["swiftc", "-swift-version", "6", "-warnings-as-errors", *(f"-I{module}" for module in modules)]
    subprocess.run(
        [*command, folder / "main.swift", f"@{folder / 'objects'}", *libraries.stdout.split(), "-o", folder / "guide"],
        check=True)  # fmt: skip
    return folder / "guide"
