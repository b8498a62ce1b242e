"""The commands `mpin-cli session`: they are over the Swift form of a session, SessionManager."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import requests
from session_fixtures import API, PIN, PUBLIC, App

CLI = pathlib.Path(__file__).parents[2] / "build" / "mpin-cli"


def run(app: App, *words: str, pin: str = "", expected: int = 0) -> str:
    environment = {**os.environ, "MPIN_BACKEND": PUBLIC, "MPIN_STORE": app.store}
    command = [str(CLI), "session", *words, "--pin-fd", "0"]
    done = subprocess.run(command, input=pin, capture_output=True, text=True, env=environment)
    assert done.returncode == expected, (words, done.stdout, done.stderr)
    return done.stdout.strip()


def log_in(app: App) -> None:
    run(app, "login", app.user, "--client-id", "app", "--origin", PUBLIC, pin=f"{PIN}\n")


def test_commands(app: App) -> None:
    assert "nobody is logged in" in run(app, "token", expected=1)
    log_in(app)
    token = run(app, "token")
    assert requests.get(API, headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert f"email\t{app.user}" in run(app, "profile").splitlines()
    profile = json.loads(run(app, "profile", "--json"))["profile"]
    assert profile["email"] == app.user and profile["picture"] == ""
    # The session is that of every program that opens the store.
    session = app.open()
    assert session.access_token() == token
    run(app, "logout", "--everywhere")
    assert "NO_CREDENTIALS" in run(app, "token", expected=1)
    assert session.state.name == "SIGNED_OUT"
    assert requests.get(API, headers={"Authorization": f"Bearer {token}"}).status_code == 401


def test_wrong_pin_is_asked_again(app: App) -> None:
    run(app, "login", app.user, "--client-id", "app", pin=f"9999\n{PIN}\n")
    assert json.loads(run(app, "token", "--json"))["token"] == app.open().access_token()


def test_call(app: App) -> None:
    """A refused token is renewed, and the request is sent once more; a token goes to the given origins only."""
    log_in(app)
    old = run(app, "token")
    app.proxy.refused.add(old)
    run(app, "call", API, "--method", "post", "--data", '{"a":1}')
    assert app.proxy.renewals() == 1 and app.proxy.api_bodies == [b'{"a":1}', b'{"a":1}']
    assert run(app, "token") != old
    app.proxy.refuses_all = True
    assert "HTTP 401" in run(app, "call", API, expected=1)
    assert "UNTRUSTED_DOMAIN_ERROR" in run(app, "call", API.replace("127.0.0.1", "localhost"), expected=1)
    run(app, "call", API, "--method", "brew", expected=1)


def test_expired_token(app: App) -> None:
    """A token that lives for longer than the provider's tokens do cannot be had; a renewed one can."""
    log_in(app)
    assert "LARGE_MIN_TTL" in run(app, "token", "--min-ttl", "100000", expected=1)
    first = run(app, "token")
    assert run(app, "token", "--scope", "openid") != first


def test_secrets_stay_out_of_sight(app: App) -> None:
    """Neither the token's file nor an error shows a token."""
    log_in(app)
    token = run(app, "token")
    assert token not in (app.folder / "store.provider").read_text()
    app.proxy.answers["/oidc/token"] = lambda _: b'{"access_token":"seen","token_type":"mac"}'
    assert "seen" not in run(app, "token", "--min-ttl", "5000", expected=1)
