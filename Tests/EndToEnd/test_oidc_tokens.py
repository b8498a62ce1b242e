"""The endpoints for tokens that a client already has: revocation, introspection and exchange.

Row numbers are those of the checklist by which the provider was built.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import requests
from phone import wait_until
from relying_party import API, EXCHANGE, FAR, ORIGIN, SECRET, Person, answered, authorize
from test_oidc import (
    BACKEND, TOKEN, alice, claims, form_encoded_basic, phone, userinfo,
)  # fmt: skip

__all__ = ["alice", "phone"]
REVOKE, INTROSPECT = f"{BACKEND}/oidc/revoke", f"{BACKEND}/oidc/introspect"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"


def log_in(person: Person, client: str = "super", scope: str = "openid email profile offline_access") -> dict[str, Any]:
    """Logs in at a client and returns its tokens."""
    person.open(authorize(BACKEND, client, scope=scope, prompt="login"))
    form = {"grant_type": "authorization_code", "code": answered(person.log_in())["code"], "redirect_uri": FAR}
    answer = requests.post(TOKEN, data=form, headers=form_encoded_basic(client))
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def revoke(token: str, client: str = "super", **more: str) -> requests.Response:
    return requests.post(REVOKE, data={"token": token, **more}, headers=form_encoded_basic(client))


def introspect(token: str, client: str = "api") -> dict[str, Any]:
    answer = requests.post(INTROSPECT, data={"token": token}, headers=form_encoded_basic(client))
    assert answer.status_code == 200 and answer.headers["Cache-Control"] == "no-store"
    return dict(answer.json())


def exchange(token: str, client: str = "super", **changes: str) -> requests.Response:
    form = {"grant_type": EXCHANGE, "subject_token": token, "subject_token_type": ACCESS_TOKEN, **changes}
    return requests.post(TOKEN, data=form, headers=form_encoded_basic(client))


def audited(name: str, after: int = 0, count: int = 0) -> list[dict[str, Any]]:
    """Returns the lines of the audit log with this name, without the first ones (`after`), when there are so many more
    (`count`). Lines are written soon after the answer."""

    def lines() -> list[dict[str, Any]]:
        whole = Path(os.environ["MPIN_AUDIT_LOG"]).read_text().rpartition("\n")[0].splitlines()
        return [line for line in map(json.loads, whole) if line["event"] == name][after:]

    wait_until(lambda: len(lines()) >= count)
    return lines()


def test_row_61_revocation(alice: Person) -> None:
    """A refresh token ends all tokens of its login, and a second revocation is no error."""
    tokens = log_in(alice)
    assert introspect(tokens["access_token"])["active"] is True
    before = len(audited("tokens-revoked"))
    for _ in range(2):
        answer = revoke(tokens["refresh_token"], token_type_hint="access_token")
        assert (answer.status_code, answer.content, answer.headers["Cache-Control"]) == (200, b"", "no-store")
    assert userinfo(tokens["access_token"]).status_code == 401
    assert introspect(tokens["access_token"]) == {"active": False}
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    assert requests.post(TOKEN, data=form, headers=form_encoded_basic("super")).json()["error"] == "invalid_grant"
    lines = audited("tokens-revoked", before, 1)
    assert [(line["client"], line["by"]) for line in lines] == [("super", "client")]
    # An access token ends its login, too.
    tokens = log_in(alice)
    assert revoke(tokens["access_token"]).status_code == 200
    assert userinfo(tokens["access_token"]).status_code == 401


def test_row_61_what_is_not_revoked(alice: Person) -> None:
    tokens = log_in(alice)
    for foreign in (tokens["refresh_token"], tokens["access_token"]):
        answer = revoke(foreign, "app")
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert revoke("garbage").status_code == 200
    faults = [
        (requests.post(REVOKE, data={"token": tokens["refresh_token"]}), 401, "invalid_client"),
        (requests.post(REVOKE, data={"token": "x"}, headers=form_encoded_basic("super", "no")), 401, "invalid_client"),
        (requests.post(REVOKE, json={"token": "x"}, headers=form_encoded_basic("super")), 400, "invalid_request"),
        (requests.post(f"{REVOKE}?token=x", headers=form_encoded_basic("super")), 400, "invalid_request"),
        (requests.post(REVOKE, data={}, headers=form_encoded_basic("super")), 400, "invalid_request"),
    ]
    for answer, status, error in faults:
        assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert requests.get(REVOKE).status_code == 405
    assert introspect(tokens["access_token"])["active"] is True


def test_row_62_introspection(alice: Person) -> None:
    """The service whose audience a token has, and the token's own client, learn what it says. All others get the answer
    that an unknown token gets."""
    tokens = log_in(alice)
    for client in ("api", "super"):
        found = introspect(tokens["access_token"], client)
        assert found["active"] is True and found["token_type"] == "Bearer" and found["client_id"] == "super"
        assert found["sub"] == claims(tokens["id_token"])["sub"] and found["iss"] == BACKEND
        assert found["aud"] == [API, "https://mini.example"] and "gid" not in found
    assert introspect(tokens["refresh_token"], "super")["active"] is True
    unknown = [
        introspect("garbage"), introspect(tokens["refresh_token"]), introspect(tokens["access_token"], "app"),
        introspect(tokens["id_token"], "super"),
    ]  # fmt: skip
    assert unknown == [{"active": False}] * 4
    before = len(audited("tokens-refused"))
    strangers = [
        requests.post(INTROSPECT, data={"token": tokens["access_token"]}),
        requests.post(INTROSPECT, data={"token": tokens["access_token"], "client_id": "native"}),
        requests.post(INTROSPECT, data={"token": "x"}, headers=form_encoded_basic("api", "no")),
    ]
    for answer in strangers:
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
        assert answer.headers["WWW-Authenticate"].startswith("Basic")
    refused = audited("tokens-refused", before, 3)
    assert [line["client"] for line in refused] == ["", "native", "api"]
    assert {line["error"] for line in refused} == {"invalid_client"}


def test_exchange(alice: Person) -> None:
    """A super-app gives a small app inside it a token that can do less, and that ends with its own."""
    tokens = log_in(alice)
    answer = exchange(tokens["access_token"], scope="openid email", audience="https://mini.example")
    assert answer.status_code == 200 and answer.headers["Cache-Control"] == "no-store"
    narrow = answer.json()
    assert set(narrow) == {"access_token", "expires_in", "issued_token_type", "scope", "token_type"}
    assert (narrow["issued_token_type"], narrow["scope"]) == (ACCESS_TOKEN, "openid email")
    assert 0 < narrow["expires_in"] <= 900
    # The token is for the small app's service only: neither for the other one nor for userinfo.
    assert userinfo(narrow["access_token"]).status_code == 401
    assert introspect(narrow["access_token"]) == {"active": False}
    assert introspect(narrow["access_token"], "super")["active"] is True
    assert introspect(narrow["access_token"], "super")["act"] == {"sub": "super"}
    faults = [
        (exchange(narrow["access_token"]), "invalid_request"), (exchange(tokens["id_token"]), "invalid_request"),
        (exchange(tokens["access_token"], "app"), "unauthorized_client"),
        (exchange(tokens["access_token"], scope="openid admin"), "invalid_scope"),
        (exchange(narrow["access_token"], scope="openid profile"), "invalid_request"),
        (exchange(tokens["access_token"], audience="https://evil.example"), "invalid_target"),
    ]  # fmt: skip
    for fault, error in faults:
        assert (fault.status_code, fault.json()["error"]) == (400, error)
    # The small app can end its own token. That does not end the app's.
    assert revoke(narrow["access_token"]).status_code == 200
    assert introspect(narrow["access_token"], "super") == {"active": False}
    assert userinfo(tokens["access_token"]).status_code == 200
    other = exchange(tokens["access_token"]).json()
    assert introspect(other["access_token"])["active"] is True
    revoke(tokens["refresh_token"])
    assert introspect(other["access_token"]) == {"active": False}


def test_row_70_scripts_of_registered_pages_may_revoke() -> None:
    for origin, allowed in ((ORIGIN, ORIGIN), ("https://evil.example", None)):
        answer = requests.options(REVOKE, headers={"Origin": origin, "Access-Control-Request-Method": "POST"})
        assert answer.headers.get("Access-Control-Allow-Origin") == allowed
