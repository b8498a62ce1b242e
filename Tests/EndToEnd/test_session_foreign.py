"""Sessions at a provider that is not ours: oidc-provider-mock, over Authlib."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import mpin
import oidc_provider_mock
import pytest
import requests
from authlib.oauth2.rfc6749 import RefreshTokenGrant
from oidc_provider_mock._app import RefreshTokenGrant as Grant
from oidc_provider_mock._storage import storage
from session_fixtures import NAMED_PORT, App, able_to_listen

# Authlib warns of its own next versions.
pytestmark = pytest.mark.filterwarnings("ignore")
CLAIMS = {"name": "Ann", "email": "ann@example.com", "email_verified": True, "updated_at": 1700000000}


@pytest.fixture(params=[False, True], ids=["one refresh token", "a new refresh token each time"])
def issuer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that lets a refresh token be used again and again, and one that does not, as Authlib offers both."""
    if request.param:
        revoke = Grant.revoke_old_credential

        def revoke_all(grant: Any, token: Any) -> None:
            revoke(grant, token)
            storage.remove_refresh_token(token.token)

        monkeypatch.setattr(RefreshTokenGrant, "INCLUDE_NEW_REFRESH_TOKEN", True)
        monkeypatch.setattr(Grant, "revoke_old_credential", revoke_all)
    user = oidc_provider_mock.User(sub="ann", claims=CLAIMS)
    with oidc_provider_mock.run_server_in_thread(
        access_token_max_age=timedelta(seconds=600), user_claims=[user]
    ) as server:
        yield f"http://localhost:{server.server_port}"


def open_session(
    app: App, issuer: str, redirect_uri: str | None = None, targets: list[str] | None = None
) -> mpin.Session:
    """A session whose user presses the button of the account on the provider's page. `targets` gets where the browser
    then goes."""

    def press(url: str) -> None:
        try:
            answer = requests.post(url, data={"sub": "ann"}, allow_redirects=False)
            if targets is not None:
                targets.append(answer.headers["Location"])
            requests.get(answer.headers["Location"])
        except BaseException:
            session.cancel()
            raise

    def open_browser(url: str) -> bool:
        threading.Thread(target=press, args=(url,)).start()
        return True

    session = app.open(open_browser=open_browser)
    # This provider accepts no public clients.
    session.add_provider(mpin.Provider(
        "foreign", "any", issuer, mpin.Login.BROWSER, client_secret="any", scope="openid profile email",
        origins=[issuer], redirect_uri=redirect_uri))  # fmt: skip
    return session


def test_login_renewal_and_revocation(app: App, issuer: str) -> None:
    session = open_session(app, issuer)
    session.login("foreign")
    told = session.profile
    assert (told.sub, told.name, told.email) == ("ann", "Ann", "ann@example.com")
    assert (told.email_verified, told.picture, told.updated_at) == ("true", "", "1700000000")
    token = session.access_token()
    assert requests.get(f"{issuer}/userinfo", auth=session.requests_auth()).json()["sub"] == "ann"
    app.later = 700
    # All who come when it has expired get the token of one renewal.
    with ThreadPoolExecutor(20) as threads:
        (renewed,) = set(threads.map(lambda _: session.access_token(), range(20)))
    assert renewed != token
    for _ in range(3):
        session.renew()
    again = open_session(app, issuer)
    assert again.access_token() == session.access_token() != renewed
    assert requests.get(f"{issuer}/userinfo", auth=again.requests_auth()).status_code == 200
    requests.post(f"{issuer}/users/ann/revoke-tokens").raise_for_status()
    with pytest.raises(mpin.LoginRequiredError):
        again.renew()
    assert session.state is mpin.SessionState.REVOKED and session.profile == told
    session.login("foreign")
    assert again.state is mpin.SessionState.SIGNED_IN
    # This provider has no endpoint for revocations, so there is nobody to tell.
    session.logout()
    assert again.state is mpin.SessionState.SIGNED_OUT


@pytest.mark.parametrize("place", ["http://127.0.0.1", "http://localhost", "http://[::1]"])
def test_host_of_the_redirect_uri(app: App, issuer: str, place: str) -> None:
    """The browser comes back to the host that the app names, at a free port or one that the app names, too."""
    targets: list[str] = []
    with able_to_listen(place):
        open_session(app, issuer, f"{place}/callback", targets).login("foreign")
        assert re.match(re.escape(place) + r":[0-9]+/callback\?", targets[-1])
        for _ in range(2):
            open_session(app, issuer, f"{place}:{NAMED_PORT}/callback", targets).login("foreign")
            assert targets[-1].startswith(f"{place}:{NAMED_PORT}/callback?")
