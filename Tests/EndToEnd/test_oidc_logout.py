"""The end of logins at the OpenID provider: logouts by relying parties, users, phones and operators, and how relying
parties are told of them.

Row numbers are those of the checklist by which the provider was built. Names of modules in backquotes are those of the
OpenID Foundation's certification plans for RP-Initiated and Back-Channel Logout; the test checks what that module
checks.
"""

from __future__ import annotations

import base64
import html
import http.server
import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pytest
import requests
from joserfc import jwt
from joserfc.jwk import KeySet
from node import Server
from node import registered as node_phone
from phone import Phone
from relying_party import FAR, LOGGED_OUT, LOGGED_OUT_HERE, TOLD, Person, answered, authorize, clients_file
from selenium.webdriver.common.by import By
from test_browser import Browser, browser, chromium
from test_oidc import AXE, BACKEND, PIN, TOKEN, form_encoded_basic, registered, userinfo

__all__ = ["browser", "chromium"]
LOGOUT = f"{BACKEND}/oidc/logout"
EVENT = "http://schemas.openid.net/event/backchannel-logout"


class Told(http.server.BaseHTTPRequestHandler):
    """The relying parties that are told of logouts. Each verifies the logout token as the specification demands, keeps
    its claims, and then answers as `answers` says: a function that returns the status."""

    tokens: list[tuple[str, dict[str, Any]]] = []
    answers: dict[str, Callable[[], int]] = {}
    mistakes: list[str] = []
    changed = threading.Condition()
    #: The keys of the servers whose logout tokens they accept, by the issuers.
    keys: dict[str, KeySet] = {}

    def do_POST(self) -> None:
        name = self.path.strip("/")
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        with self.changed:
            try:
                self.tokens.append((name, verified(name, body, self.headers["Content-Type"], self.keys)))
            except Exception as mistake:
                self.mistakes.append(f"{name}: {mistake!r}")
            self.changed.notify_all()
        status = self.answers.get(name, lambda: 200)()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", f"{TOLD}/shop")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self.mistakes.append(f"GET {self.path}: only a redirect leads here")
        self.send_error(405)

    def log_message(self, *arguments: object) -> None:
        pass


def verified(name: str, body: str, content_type: str, keys: dict[str, KeySet]) -> dict[str, Any]:
    """Checks a logout token by section 2.6 of OpenID Connect Back-Channel Logout, and returns its claims."""
    assert content_type == "application/x-www-form-urlencoded"
    [(member, token)] = parse_qsl(body, strict_parsing=True)
    assert member == "logout_token"
    issuer = json.loads(base64_decoded(token.split(".")[1]))["iss"]
    decoded = jwt.decode(token, keys[issuer], algorithms=["RS256"])
    assert decoded.header["typ"] == "logout+jwt"
    rules = jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": issuer}, aud={"essential": True, "value": name}, iat={"essential": True},
        exp={"essential": True}, jti={"essential": True},
    )  # fmt: skip
    rules.validate(decoded.claims)
    assert decoded.claims["events"] == {EVENT: {}}
    assert "sid" in decoded.claims or "sub" in decoded.claims
    assert "nonce" not in decoded.claims
    return dict(decoded.claims)


def published(backend: str) -> KeySet:
    return KeySet.import_key_set(requests.get(f"{backend}/oidc/certs").json())


def base64_decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@pytest.fixture
def told() -> Iterator[type[Told]]:
    """The relying parties, as long as a test runs."""
    Told.tokens, Told.answers, Told.mistakes, Told.keys = [], {}, [], {BACKEND: published(BACKEND)}
    port = urlsplit(TOLD).port
    assert port
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Told) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Told
        server.shutdown()
    assert Told.mistakes == []


def wait_for(name: str, sid: str | None, count: int = 1) -> list[dict[str, Any]]:
    """Waits until a relying party was told `count` times of the end of a session, or of all if `sid` is None."""

    def found() -> list[dict[str, Any]]:
        return [claims for who, claims in Told.tokens if who == name and claims.get("sid") == sid]

    with Told.changed:
        assert Told.changed.wait_for(lambda: len(found()) >= count, 60), (Told.tokens, Told.mistakes)
        return found()


@pytest.fixture(scope="module")
def phone() -> Phone:
    return registered("carol@example.com")


@pytest.fixture
def carol(phone: Phone) -> Person:
    return Person(BACKEND, phone, PIN)


def redeem(code: str, client: str) -> dict[str, Any]:
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": FAR}
    return dict(requests.post(TOKEN, data=form, headers=form_encoded_basic(client)).json())


def log_in(person: Person, *clients: str, scope: str = "openid") -> dict[str, Any]:
    """Logs a person in to the clients, with at most one PIN, and returns the tokens of the first one."""
    answer = person.open(authorize(BACKEND, clients[0], scope=scope))
    if answer.status_code != 303:
        answer = person.log_in()
    tokens = redeem(answered(answer)["code"], clients[0])
    for client in clients[1:]:
        redeem(answered(person.open(authorize(BACKEND, client)))["code"], client)
    return tokens


def sid_of(tokens: dict[str, Any]) -> str:
    return str(jwt.decode(tokens["id_token"], published(BACKEND), algorithms=["RS256"]).claims["sid"])


def log_out(person: Person, **members: str) -> requests.Response:
    answer = person.browser.get(LOGOUT, params=members, allow_redirects=False)
    person.page = answer.text
    return answer


def is_logged_in(person: Person) -> bool:
    return "code" in answered(person.open(authorize(BACKEND, prompt="none")))


def refreshed(token: str, client: str) -> int:
    form = {"grant_type": "refresh_token", "refresh_token": token}
    return requests.post(TOKEN, data=form, headers=form_encoded_basic(client)).status_code


def hidden(page: str) -> dict[str, str]:
    inputs = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page)
    return {name: html.unescape(value) for name, value in inputs}


def press(person: Person, answer: str, **changes: str) -> requests.Response:
    """Presses a button of the page that asks whether to log out."""
    data = {**hidden(person.page), "answer": answer, **changes}
    return person.browser.post(
        f"{LOGOUT}/confirm", data=data, headers={"Origin": BACKEND}, allow_redirects=False
    )  # fmt: skip


def test_rows_63_66_and_67_a_relying_party_logs_its_user_out(carol: Person, told: type[Told]) -> None:
    """The whole logout: the session ends, all its relying parties are told before the browser goes on, and its tokens
    are dead. Modules `rp-initiated-logout`, `backchannel-rp-initiated-logout`."""
    tokens = log_in(carol, "shop", "desk")
    offline = log_in(carol, "shop", scope="openid offline_access")
    sid = sid_of(tokens)
    assert sid_of(offline) == sid
    answer = log_out(carol, id_token_hint=tokens["id_token"], post_logout_redirect_uri=LOGGED_OUT, state="a &b\u00e9")
    assert answer.status_code == 303
    place, _, query = answer.headers["Location"].partition("?")
    assert (place, parse_qs(query)) == (LOGGED_OUT, {"state": ["a &b\u00e9"]})
    assert answer.headers["Cache-Control"] == "no-store" and answer.headers["Referrer-Policy"] == "no-referrer"
    # They were told before the answer came.
    assert sorted(who for who, claims in told.tokens if claims.get("sid") == sid) == ["desk", "shop"]
    assert not carol.browser.cookies.get("mpin-sso")
    assert not is_logged_in(carol)
    assert userinfo(tokens["access_token"]).status_code == 401
    assert userinfo(offline["access_token"]).status_code == 200
    assert refreshed(offline["refresh_token"], "shop") == 200
    # The session has ended already, and the relying party gets its user back all the same.
    again = log_out(carol, id_token_hint=tokens["id_token"], post_logout_redirect_uri=LOGGED_OUT)
    assert (again.status_code, again.headers["Location"]) == (303, LOGGED_OUT)


@pytest.mark.parametrize("cookies", [{}, {"lb": "7"}, {"lb": "7", "mpin-sso": "x"}, {"mpin-authorize": "A" * 43}])
def test_row_63_by_post(carol: Person, told: type[Told], cookies: dict[str, str]) -> None:
    """A page of the relying party posts the request. Browsers send none of our cookies with that, but those of a load balancer
    at the same host, so the answer sends them to the same request by GET."""
    tokens = log_in(carol, "shop")
    form = {"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": LOGGED_OUT, "client_id": "shop"}
    first = requests.post(LOGOUT, data=form, cookies=cookies, allow_redirects=False)
    assert first.status_code == 303 and first.headers["Location"].startswith("/oidc/logout?")
    assert not first.cookies and is_logged_in(carol)
    answer = carol.browser.get(BACKEND + first.headers["Location"], allow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (303, LOGGED_OUT)
    assert not is_logged_in(carol)
    tokens = log_in(carol, "shop")
    form["id_token_hint"] = tokens["id_token"]
    assert carol.browser.post(LOGOUT, data=form, allow_redirects=False).headers["Location"] == LOGGED_OUT
    assert not is_logged_in(carol)
    assert requests.post(LOGOUT, json=form).status_code == 415


@pytest.mark.parametrize("form", [{"state": "x" * 20_000}, {"id_token_hint": "x" * 20_000}, b"state=\xff \xfe", b"a=b#c"])
def test_a_post_from_elsewhere_that_fits_into_no_url(carol: Person, told: type[Told], form: dict[str, str] | bytes) -> None:
    """It says nothing of who is logged in, so it is answered by the page that asks. It claims no logout, and forgets no
    cookie."""
    log_in(carol, "shop")
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = requests.post(LOGOUT, data=form, headers=kind, cookies={"lb": "7"}, allow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/oidc/logout")
    assert not answer.cookies and "logged out" not in answer.text
    assert "carol@example.com" in carol.browser.get(LOGOUT).text
    assert is_logged_in(carol)


@pytest.mark.parametrize("members", [{}, {"state": "s"}, {"client_id": "shop", "post_logout_redirect_uri": LOGGED_OUT}])
@pytest.mark.parametrize(
    ("language", "said", "claim"),
    [
        ("en", "Nobody was logged out", "logged out."), ("de", "Niemand wurde abgemeldet", "Sie sind abgemeldet"),
        ("fr", "Personne n’a été déconnecté", "Vous êtes déconnecté"),
        ("es", "No se ha cerrado ninguna sesión", "Ha cerrado la sesión"),
    ],
)  # fmt: skip
def test_a_request_without_our_cookie(
    carol: Person, told: type[Told], members: dict[str, str], language: str, said: str, claim: str
) -> None:
    """A frame of another site sends no cookie of ours, although the browser has one. The page claims no logout, and the
    session goes on."""
    log_in(carol, "shop")
    answer = requests.get(LOGOUT, params={**members, "ui_locales": language}, cookies={"lb": "7"}, allow_redirects=False)
    assert answer.status_code == 200 and said in answer.text and claim not in answer.text
    assert not answer.cookies and "Set-Cookie" not in answer.headers
    assert is_logged_in(carol)


@pytest.mark.parametrize(
    "members",
    [
        {}, {"state": "s"}, {"post_logout_redirect_uri": LOGGED_OUT}, {"client_id": "shop"},
        {"client_id": "shop", "post_logout_redirect_uri": LOGGED_OUT, "state": "s"},
    ],
)  # fmt: skip
def test_row_64_without_a_hint(carol: Person, told: type[Told], members: dict[str, str]) -> None:
    """Without an ID token a page asks. A form of another site has no effect. Modules `rp-initiated-logout-no-params`,
    `-only-state`, `-no-id-token-hint`, `-no-post-logout-redirect-uri`."""
    tokens = log_in(carol, "shop")
    answer = log_out(carol, **members)
    assert answer.status_code == 200 and "Location" not in answer.headers
    assert "carol@example.com" in answer.text and answer.headers["X-Frame-Options"] == "DENY"
    evil = carol.browser.post(
        f"{LOGOUT}/confirm", data={**hidden(answer.text), "answer": "here"}, headers={"Origin": "https://evil.example"}
    )
    assert evil.status_code == 403
    assert press(carol, "here", csrf="x" * 43).status_code == 403
    assert is_logged_in(carol)
    log_out(carol, **members)
    done = press(carol, "here")
    assert done.status_code == 200 and "Location" not in done.headers and "You are logged out" in done.text
    back = re.findall(r'<a class="button" href="(https://[^"]*)">', done.text)
    assert back == ([f"{LOGGED_OUT}?state=s"] if len(members) == 3 else [])
    wait_for("shop", sid_of(tokens))
    assert not is_logged_in(carol)
    # Now there is nobody to ask.
    assert "Nobody was logged out" in log_out(carol, **members).text


def test_row_64_the_hint_of_somebody_else(carol: Person, told: type[Told]) -> None:
    """The ID token of another user or session proves nothing about the person at this browser, so a page asks."""
    dave = Person(BACKEND, registered("dave@example.com"), PIN)
    hint = log_in(dave, "shop")["id_token"]
    log_in(carol, "shop")
    answer = log_out(carol, id_token_hint=hint, post_logout_redirect_uri=LOGGED_OUT)
    assert answer.status_code == 200 and "carol@example.com" in answer.text
    assert is_logged_in(carol) and is_logged_in(dave)
    # A browser without a session may not end somebody's session with a found ID token.
    stranger = requests.get(
        LOGOUT, params={"id_token_hint": hint, "post_logout_redirect_uri": LOGGED_OUT}, allow_redirects=False
    )
    assert stranger.headers["Location"] == LOGGED_OUT
    assert is_logged_in(dave)


def test_rows_64_65_and_72_requests_that_lead_nowhere(carol: Person, told: type[Told]) -> None:
    """Modules `rp-initiated-logout-bad-id-token-hint`, `-modified-id-token-hint`, `-bad-post-logout-redirect-uri`,
    `-query-added-to-post-logout-redirect-uri`, `-bad-client-id`. A person who is logged in can log out on the page."""
    tokens = log_in(carol, "shop")
    hint = tokens["id_token"]
    head, claims, signature = hint.split(".")
    good = {"id_token_hint": hint, "post_logout_redirect_uri": LOGGED_OUT}
    changes: list[dict[str, str]] = [
        {"id_token_hint": "x"}, {"id_token_hint": f"eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{claims}."},
        {"id_token_hint": f"{head}.{claims}x.{signature}"}, {"id_token_hint": tokens["access_token"]},
        {"client_id": "desk"}, {"client_id": "nobody"}, {"state": "x" * 2049},
    ]  # fmt: skip
    changes += [
        {"post_logout_redirect_uri": uri}
        for uri in (
            LOGGED_OUT + "?x=1", LOGGED_OUT + "/", FAR, "//evil.example", "\\evil.example", "https://evil.example",
            "https://app.example@evil.example/logged-out", "javascript:alert(1)",
        )
    ]  # fmt: skip
    for change in changes:
        answer = log_out(carol, **{**good, **change})
        assert answer.status_code == 400 and "Location" not in answer.headers, change
        assert "evil" not in answer.text
        assert "carol@example.com" in answer.text
    assert is_logged_in(carol) and not [claims for _, claims in told.tokens if claims.get("sid") == sid_of(tokens)]
    log_out(carol, **{**good, "client_id": "desk"})
    assert press(carol, "here").status_code == 200
    assert not is_logged_in(carol)
    assert log_out(carol, **{**good, "client_id": "desk"}).status_code == 400


def test_row_66_relying_parties_that_do_not_answer(carol: Person, told: type[Told]) -> None:
    """All are told at the same time: two of them answer only when both were called. One is slow, one is dead, one answers
    with an error and one with a redirect, which is not followed. The browser goes on, and those that did not accept the
    token are tried again."""
    both = threading.Barrier(2, timeout=60)
    patience = threading.Event()
    errors = iter([503])

    def together() -> int:
        both.wait()
        return 200

    def slow() -> int:
        patience.wait(60)
        return 204

    told.answers = {
        "shop": together, "desk": together, "slow": slow, "flaky": lambda: next(errors, 200), "moved": lambda: 302
    }  # fmt: skip
    tokens = log_in(carol, "shop", "desk", "slow", "flaky", "moved", "dead")
    sid = sid_of(tokens)
    begun = time.monotonic()
    answer = log_out(carol, id_token_hint=tokens["id_token"], post_logout_redirect_uri=LOGGED_OUT)
    assert answer.headers["Location"] == LOGGED_OUT
    # The cap is 2 s. On a busy machine the rest may take longer, but not as long as `slow` would.
    assert time.monotonic() - begun < 30 and not patience.is_set()
    told_at_once = sorted(who for who, claims in told.tokens if claims.get("sid") == sid)
    assert told_at_once == ["desk", "flaky", "moved", "shop", "slow"]
    patience.set()
    for name in ("slow", "flaky", "moved"):
        twice = wait_for(name, sid, 2)
        assert len({claims["jti"] for claims in twice}) == 2
    # Those that have accepted the token are not told again. The redirect led nowhere.
    assert len(wait_for("shop", sid)) == len(wait_for("desk", sid)) == 1


def test_row_66_a_server_that_ends(told: type[Told], tmp_path: Path) -> None:
    """The server ends while a relying party has not accepted the logout token. The next start tells it."""
    clients = tmp_path / "clients.yaml"
    clients.write_text(clients_file())
    server = Server(tmp_path / "node")
    server.start("--clients", str(clients), "--internal-target", "127.0.0.1")
    try:
        told.keys[server.backend] = published(server.backend)
        told.answers = {"shop": lambda: 503}
        person = Person(server.backend, node_phone(server, "frank@example.com"), PIN)
        person.open(authorize(server.backend, "shop"))
        assert "code" in answered(person.log_in())
        person.open(f"{server.backend}/oidc/logout")
        data = {**hidden(person.page), "answer": "here"}
        page = person.open(
            f"{server.backend}/oidc/logout/confirm", method="POST", data=data, headers={"Origin": server.backend}
        )
        assert "You are logged out" in page.text
        [first] = [claims for name, claims in told.tokens if claims["iss"] == server.backend]
        server.end(signal.SIGTERM)
        told.answers = {}
        server.start("--clients", str(clients), "--internal-target", "127.0.0.1")
        assert wait_for("shop", first["sid"], 2)[1]["jti"] != first["jti"]
        server.close()
    finally:
        server.kill()


def test_row_67_everywhere(carol: Person, phone: Phone, told: type[Told]) -> None:
    """The user ends all sessions, and the tokens that outlive sessions."""
    offline = log_in(carol, "shop", scope="openid offline_access")
    other = Person(BACKEND, phone, PIN)
    sid = sid_of(log_in(other, "desk"))
    log_out(carol)
    assert press(carol, "everywhere").status_code == 200
    wait_for("desk", sid)
    wait_for("shop", sid_of(offline))
    wait_for("shop", None)
    assert not is_logged_in(carol) and not is_logged_in(other)
    assert userinfo(offline["access_token"]).status_code == 401
    assert refreshed(offline["refresh_token"], "shop") == 400


def test_the_phone_ends_the_session(carol: Person, phone: Phone, told: type[Told]) -> None:
    """The phone that has logged the browser in ends its session, and relying parties are told. If the phone is faster
    than the person at the browser, no session begins."""
    carol.open(authorize(BACKEND, "shop"))
    carol.show_number()
    done = carol.enter_pin(carol.shown_code())
    carol.await_phone()
    carol.press("/authorize/login")
    code = answered(carol.press("/authorize/confirm", step="confirmation", answer="yes"))["code"]
    tokens = redeem(code, "shop")
    offer = done.result()
    assert offer["logoutURL"] == "/rps/logout"
    forged = {"sessionToken": offer["logoutData"]["sessionToken"][:-4] + "0000"}
    for wrong in (forged, {"sessionToken": ""}, {}):
        assert requests.post(f"{BACKEND}/rps/logout", json=wrong).status_code == 400
    assert is_logged_in(carol)
    phone.logout(offer)
    wait_for("shop", sid_of(tokens))
    assert not is_logged_in(carol) and userinfo(tokens["access_token"]).status_code == 401
    phone.logout(offer)
    carol.open(authorize(BACKEND, "shop"))
    carol.show_number()
    done = carol.enter_pin(carol.shown_code())
    carol.await_phone()
    carol.press("/authorize/login")
    phone.logout(done.result())
    told_error = answered(carol.press("/authorize/confirm", step="confirmation", answer="yes"))
    assert told_error["error"] == "login_required"
    assert not is_logged_in(carol)


def mpind(*words: str, status: int = 0) -> list[dict[str, Any]]:
    """Runs a command of the operator, and returns what it prints."""
    command = [os.environ["MPIN_SERVER"], *words, "--state-dir", os.environ["MPIN_STATE"], "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_operator_ends_sessions(carol: Person, phone: Phone, told: type[Told]) -> None:
    """`mpind session` lists and ends sessions, while the server runs, which tells the relying parties."""
    mpind("session", "end", "--all")
    tokens = log_in(carol, "shop", "desk")
    other = Person(BACKEND, phone, PIN)
    offline = log_in(other, "desk", scope="openid offline_access")
    sid, second = sid_of(tokens), sid_of(offline)
    listed = {entry["id"]: entry for entry in mpind("session", "list", "--user", "carol@example.com")}
    assert set(listed) == {sid, second}
    assert listed[sid]["clients"] == ["shop", "desk"] and listed[sid]["state"] == "active"
    assert mpind("session", "list", "--user", "nobody@example.com") == []
    assert mpind("session", "end", sid) == [{"session": sid, "user": "carol@example.com", "clients": ["shop", "desk"]}]
    assert not is_logged_in(carol) and is_logged_in(other)
    assert userinfo(tokens["access_token"]).status_code == 401
    wait_for("shop", sid)
    wait_for("desk", sid)
    mpind("session", "end", sid, status=2)
    mpind("session", "end", "--user", "nobody@example.com", status=2)
    mpind("session", "end", sid, "--all", status=64)
    mpind("session", "end", status=64)
    mpind("session", "end", sid, "--everywhere", status=64)
    assert [entry["session"] for entry in mpind("session", "end", "--user", "carol@example.com")] == [second]
    wait_for("desk", second)
    assert refreshed(offline["refresh_token"], "desk") == 200
    ended = mpind("session", "end", "--user", "carol@example.com", "--everywhere")
    assert "session" not in ended[-1] and "desk" in ended[-1]["clients"]
    wait_for("desk", None)
    assert mpind("session", "list") == []


def test_a_revoked_user_is_logged_out(told: type[Told]) -> None:
    """`mpind user revoke` also ends the sessions of the user, and relying parties are told."""
    erin = Person(BACKEND, registered("erin@example.com"), PIN)
    tokens = log_in(erin, "shop")
    mpind("user", "revoke", "erin@example.com")
    wait_for("shop", sid_of(tokens))
    assert mpind("session", "list", "--user", "erin@example.com") == []
    assert not is_logged_in(erin)


def test_row_68_the_operator_rotates_the_keys(carol: Person, told: type[Told]) -> None:
    """The next keys are published before they sign. A wrong key file changes nothing, and two rotations at once make one
    new key for each algorithm."""
    before = mpind("signing-key", "list")
    assert [entry["state"] for entry in before] == ["signing", "signing"]
    wrong = [os.environ["MPIN_SERVER"], "signing-key", "rotate", "--state-dir", os.environ["MPIN_STATE"]]
    wrong += ["--key-file", os.environ["MPIN_STATE"] + "/rpa.key"]
    done = subprocess.run(wrong, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "sealed under another key" in done.stderr
    assert mpind("signing-key", "list") == before
    after = mpind("signing-key", "rotate")
    assert sorted(entry["state"] for entry in after) == ["next", "next", "signing", "signing"]
    assert mpind("signing-key", "rotate") == after
    tokens = log_in(carol, "shop")
    signing = {entry["kid"] for entry in after if entry["state"] == "signing"}
    assert json.loads(base64_decoded(tokens["id_token"].split(".")[0]))["kid"] in signing


def test_the_operator_withdraws_a_key() -> None:
    """A key that leaked is deleted; the others stay. The server that runs may learn of it up to a minute later, so only
    the command is tested here."""
    key = next(entry["kid"] for entry in mpind("signing-key", "list") if entry["state"] == "next")
    assert key not in {entry["kid"] for entry in mpind("signing-key", "withdraw", key)}
    wrong = [os.environ["MPIN_SERVER"], "signing-key", "withdraw", key, "--state-dir", os.environ["MPIN_STATE"]]
    done = subprocess.run(wrong, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and f"no signing key {key}" in done.stderr


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_in_a_real_browser(browser: Browser, carol: Person, told: type[Told], language: str) -> None:
    """The pages in Chromium, without scripts, in every language: axe finds no barrier, and the browser no error."""
    title = {
        "en": "Log out?", "de": "Abmelden?", "fr": "Se déconnecter ?", "es": "¿Cerrar la sesión?"
    }[language]  # fmt: skip
    log_in(carol, "shop")
    browser.open("/login")
    browser.driver.add_cookie({"name": "mpin-sso", "value": carol.browser.cookies["mpin-sso"]})
    query = urlencode({"ui_locales": language, "client_id": "shop", "post_logout_redirect_uri": LOGGED_OUT_HERE})
    browser.open(f"/oidc/logout?{query}")
    assert browser.text("h1") == title
    look(browser)
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.open(f"/oidc/logout?{query}")
    browser.driver.find_element(By.CSS_SELECTOR, "button[value=here]").click()
    browser.wait_for("shop")
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert browser.driver.find_element(By.CSS_SELECTOR, "main a.button").get_attribute("href") == LOGGED_OUT_HERE
    look(browser)
    assert not is_logged_in(carol)


def look(browser: Browser) -> None:
    """Checks that axe finds no barrier in the page."""
    browser.driver.execute_script(AXE)
    result = browser.driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    assert result["passes"] and not result["violations"], result["violations"]
