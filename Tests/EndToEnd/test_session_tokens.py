"""ID tokens and answers that must be refused. The provider is real; the proxy changes what it says."""

from __future__ import annotations

import base64
import json
import re
from typing import Any, Callable

import mpin
import pytest
from session_fixtures import PIN, App

TOKEN, KEYS = "/oidc/token", "/oidc/certs"


def refused(app: App, error: type[mpin.MPinError] = mpin.TokenInvalidError, words: str = "") -> None:
    """A login fails with the error and leaves nothing behind; without the change it works."""
    session = app.open()
    app.pins = [PIN]
    with pytest.raises(error, match=words) as caught:
        session.login("app", app.user)
    assert "eyJ" not in str(caught.value)
    assert session.state is mpin.SessionState.SIGNED_OUT
    app.proxy.reset()
    app.pins = [PIN]
    session.login("app", app.user)


def on_json(change: Callable[[dict[str, Any]], None]) -> Callable[[bytes], bytes]:
    def changed(body: bytes) -> bytes:
        content = json.loads(body)
        change(content)
        return json.dumps(content).encode()

    return changed


def on_token(change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Callable[[bytes], bytes]:
    """Changes header and claims of the ID token, whose signature is then wrong."""

    def changed(answer: dict[str, Any]) -> None:
        parts = answer["id_token"].split(".")
        header, claims = (json.loads(base64.urlsafe_b64decode(part + "==")) for part in parts[:2])
        change(header, claims)
        encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in (header, claims)]
        answer["id_token"] = ".".join([*encoded, parts[2]])

    return on_json(changed)


def test_wrong_nonce(app: App) -> None:
    """The token is of another login: the provider has signed the nonce of somebody else."""
    app.proxy.targets["/authorize"] = lambda target: re.sub("nonce=[^&]*", "nonce=another", target)
    refused(app, words="nonce")


def test_wrong_key(app: App) -> None:
    """The published key is not the one that has signed. (The vendor's proxy test replaces `n`, too.)"""

    def other(content: dict[str, Any]) -> None:
        for key in content["keys"]:
            if key["kty"] == "RSA":
                key["n"] = key["n"][:-8] + ("AAAAAAAA" if key["n"][-8:] != "AAAAAAAA" else "BBBBBBBB")

    app.proxy.answers[KEYS] = on_json(other)
    refused(app, words="signature")


@pytest.mark.parametrize("member, value", [
    ("e", "AQ"), ("e", "AAAB"), ("e", ""), ("e", "AA"), ("e", "Ag"), ("e", "AQAAAAAAAAAB"), ("e", None), ("e", 65537),
    ("n", "f" + "_" * 340 + "w"), ("n", "AA" + "_" * 339 + "w"), ("n", "_" * 170), ("n", ""), ("n", None), ("n", "_" * 4096),
])  # fmt: skip
def test_weak_key(app: App, member: str, value: object) -> None:
    """An RSA key has at least 2048 bits and an odd exponent from 3 on; with the exponent 1 everybody could sign."""

    def weaken(content: dict[str, Any]) -> None:
        for key in content["keys"]:
            if key["kty"] == "RSA":
                key[member] = value

    app.proxy.answers[KEYS] = on_json(weaken)
    refused(app, words="does not publish")


def test_unknown_key(app: App) -> None:
    """A token of an unknown key makes the keys be fetched once, and no more."""

    def rename(content: dict[str, Any]) -> None:
        for key in content["keys"]:
            key["kid"] = "another"

    app.proxy.answers[KEYS] = on_json(rename)
    session = app.open()
    app.pins = [PIN]
    with pytest.raises(mpin.TokenInvalidError, match="does not publish"):
        session.login("app", app.user)
    assert app.proxy.asked[KEYS] == 1
    app.proxy.reset()
    app.pins = [PIN, PIN]
    session.login("app", app.user)
    session.login("app", app.user)
    assert app.proxy.asked[KEYS] == 1


@pytest.mark.parametrize("change, words", [
    (lambda header, claims: header.update(alg="none"), "algorithm"),
    (lambda header, claims: header.update(alg="HS256"), "algorithm"),
    (lambda header, claims: header.update(alg="RS512"), "algorithm"),
    (lambda header, claims: header.update(alg="ES256"), "does not publish"),
    (lambda header, claims: header.update(crit=["exp"]), "extension"),
    (lambda header, claims: claims.update(iss="https://evil.example"), "issuer"),
    (lambda header, claims: claims.update(aud="other"), "aud"),
    (lambda header, claims: claims.update(aud=["app", "other"]), "azp"),
    (lambda header, claims: claims.update(azp="other"), "azp"),
    (lambda header, claims: claims.update(exp=claims["iat"] - 100), "expired"),
    (lambda header, claims: claims.pop("exp"), "expired"),
    (lambda header, claims: claims.update(iat=claims["iat"] + 3600), "future"),
    (lambda header, claims: claims.update(exp="soon"), "expired"),
    (lambda header, claims: claims.update(exp=claims["iat"] - 100.5), "expired"),
    (lambda header, claims: claims.update(exp=claims["exp"] + 0.5), "signature"),
    (lambda header, claims: claims.update(nbf=claims["iat"] + 3600), "not valid yet"),
    (lambda header, claims: claims.update(nbf="soon"), "not valid yet"),
    (lambda header, claims: claims.pop("sub"), "sub"),
    (lambda header, claims: claims.pop("nonce"), "nonce"),
    (lambda header, claims: claims.update(sub="somebody else"), "signature"),
    (lambda header, claims: claims.update(x="y" * 20000), "larger"),
])  # fmt: skip
def test_changed_token(app: App, change: Any, words: str) -> None:
    app.proxy.answers[TOKEN] = on_token(change)
    refused(app, words=words)


@pytest.mark.parametrize("token", ["", ".", "..", "a.b.c", "e30.e30.", "e30.e30", "W10.e30.x", "e30.e30.e30.e30", "\u00e9.\u00e9.\u00e9"])
def test_malformed_token(app: App, token: str) -> None:
    app.proxy.answers[TOKEN] = on_json(lambda answer: answer.update(id_token=token))
    refused(app)


def test_token_of_another_access_token(app: App) -> None:
    app.proxy.answers[TOKEN] = on_json(lambda answer: answer.update(access_token=answer["access_token"] + "x"))
    refused(app, words="at_hash")


@pytest.mark.parametrize("change", [
    lambda answer: answer.pop("id_token"),
    lambda answer: answer.update(id_token=None),
])
def test_no_id_token(app: App, change: Any) -> None:
    app.proxy.answers[TOKEN] = on_json(change)
    refused(app, words="no ID token")


@pytest.mark.parametrize("change", [
    lambda answer: answer.pop("access_token"),
    lambda answer: answer.update(access_token=""),
    lambda answer: answer.update(access_token="a\nb"),
    lambda answer: answer.update(access_token=7),
    lambda answer: answer.update(token_type="mac"),
])
def test_malformed_answer(app: App, change: Any) -> None:
    app.proxy.answers[TOKEN] = on_json(change)
    refused(app, mpin.ResponseParseError)


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"a":1,"a":2}', b"x" * 2_000_000])
def test_answer_that_is_no_json(app: App, body: bytes) -> None:
    app.proxy.answers[TOKEN] = lambda _: body
    refused(app, mpin.ResponseParseError)


def test_wrong_issuer(app: App) -> None:
    app.proxy.answers["/.well-known/openid-configuration"] = on_json(lambda document: document.update(issuer="x"))
    refused(app, mpin.ResponseParseError, "issuer")


@pytest.mark.parametrize("date, words", [
    ("Sun, 06 Nov 2044 08:49:37 GMT", "expired"),
    ("Sun, 06 Nov 1994 08:49:37 GMT", "future"),
])
def test_provider_with_a_wrong_clock(app: App, date: str, words: str) -> None:
    """The provider's clock decides whether its tokens are valid. A clock beyond the leeway of a minute is refused."""
    app.proxy.date = date
    refused(app, words=words)


def test_renewed_token_of_another_user(app: App) -> None:
    """A renewal whose ID token is wrong gives no access token, and the session goes on with its new refresh token."""
    session = app.log_in()
    app.later = 1200
    app.proxy.answers[TOKEN] = on_token(lambda header, claims: claims.update(sub="somebody else"))
    with pytest.raises(mpin.TokenInvalidError, match="another user"):
        session.access_token()
    assert session.state is mpin.SessionState.SIGNED_IN
    app.proxy.reset()
    session.access_token()


def test_profile_with_a_missing_claim(app: App) -> None:
    """What the provider does not say is empty."""
    app.proxy.answers["/oidc/userinfo"] = on_json(lambda content: content.update(
        picture=None, updated_at=1700000000, email_verified=False, name=None))
    profile = app.log_in().profile
    assert (profile.picture, profile.updated_at, profile.email_verified, profile.name) == ("", "1700000000", "false", "")
    app.proxy.answers["/oidc/userinfo"] = on_json(lambda content: content.update(email=None))
    profile = app.log_in().profile
    assert (profile.email, profile.email_verified) == ("", "")
    app.proxy.answers["/oidc/userinfo"] = lambda _: None
    assert app.log_in().profile.sub == profile.sub


@pytest.mark.parametrize("claims", [
    {"sub": "somebody else", "name": "Mallory"}, {"iss": "https://evil.example"}, {"email_verified": "true"},
    {"email_verified": 1}, {"email": ["alice@example.com"]}, {"name": ["x"]}, {"picture": 7}, {"updated_at": False},
])  # fmt: skip
def test_userinfo_that_is_refused(app: App, claims: dict[str, Any]) -> None:
    """Userinfo that contradicts the ID token, or in which a claim has another type than it must have, lets nobody in."""
    app.proxy.answers["/oidc/userinfo"] = on_json(lambda content: content.update(claims))
    refused(app, words="userinfo")
