"""The OpenID provider in an RPS of its own, with both D-TAs and the RPA in other processes."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session
from node import ROOT
from relying_party import FAR, SECRET, Person, authorize, clients_file
from split import Split
from test_oidc import PIN
from test_oidc_account import PAGE, with_mail

BROWSER = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Split]:
    folder = tmp_path_factory.mktemp("parts")
    (folder / "clients.yaml").write_text(clients_file())
    options = ["--clients", str(folder / "clients.yaml"), "--internal-target", "127.0.0.1"]
    parts = Split(folder / "split", "--rate-limits", "off", provider=options)
    yield parts
    parts.end()


@pytest.fixture(scope="module")
def alice(split: Split) -> Person:
    """A user who registered at the RPA, whose browser goes to the RPS."""
    phone = with_mail(split, "alice@example.com").phone
    return Person(split.issuer, phone, PIN)


def test_a_login_at_another_address_than_the_websites(split: Split, alice: Person) -> None:
    """A relying party of somebody else finds all by discovery at the RPS. The phone knows only the RPA. The mail that
    confirmed the registration, which the RPA sent, also proves the address to the provider."""
    metadata = requests.get(f"{split.issuer}/.well-known/openid-configuration").json()
    assert metadata["issuer"] == split.issuer
    site = OAuth2Session(
        "post", SECRET, redirect_uri=FAR, scope="openid email", code_challenge_method="S256",
        token_endpoint_auth_method="client_secret_post",
    )  # fmt: skip
    verifier = "v" * 64
    url, state = site.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
    assert alice.open(url).status_code == 200
    assert f"<code>{split.backend}</code>" in alice.page
    done = alice.log_in()
    site.fetch_token(
        metadata["token_endpoint"], authorization_response=done.headers["Location"], code_verifier=verifier, state=state
    )
    claims = site.get(metadata["userinfo_endpoint"]).json()
    assert (claims["email"], claims["email_verified"]) == ("alice@example.com", True)


def test_the_pages_have_their_files(split: Split) -> None:
    page = requests.get(authorize(split.issuer, "app"), headers=BROWSER).text
    assert 'href="/style.css"' in page
    for file in ("/style.css", "/live.js", "/icon.svg"):
        assert requests.get(split.issuer + file).content == requests.get(split.backend + file).content
    lost = requests.get(split.issuer + "/nothing", headers=BROWSER)
    assert (lost.status_code, "<!DOCTYPE html>" in lost.text) == (404, True)


def test_the_website_links_to_the_account_page(split: Split, alice: Person) -> None:
    """The start page of a provider without a website is that account page, too."""
    start = requests.get(split.issuer + "/", allow_redirects=False)
    assert (start.status_code, start.headers["Location"]) == (303, PAGE)
    visitor = Person(split.backend, alice.phone, PIN)
    visitor.open(f"{split.backend}/login/number")
    webOTT = visitor._found(r'name="webOTT" value="([0-9a-f]+)"')
    done = visitor.enter_pin(visitor.shown_code())
    visitor.await_phone()
    form = {"webOTT": webOTT, "csrf": visitor._found(r'name="csrf" value="([^"]+)"')}
    visitor.open(f"{split.backend}/login/number", method="POST", data=form, headers={"Origin": split.backend})
    answer = {"csrf": visitor._found(r'name="csrf" value="([^"]+)"'), "answer": "yes"}
    visitor.open(f"{split.backend}/login/confirm", method="POST", data=answer, headers={"Origin": split.backend})
    done.result()
    assert f'href="{split.issuer}{PAGE}"' in visitor.page


def test_clients_of_miracl_trust_are_served(split: Split) -> None:
    command = [str(ROOT / "build/mpind"), "project", "add", "my-app", "--database", split.database()]
    subprocess.run(command, check=True, capture_output=True)
    session = requests.post(f"{split.issuer}/rps/v2/session", json={"projectId": "my-app", "userId": "a@example.com"})
    assert session.status_code == 200
    assert session.json()["accessURL"] == f"{split.issuer}/rps/v2/access"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--clients", "c.yaml"], "--clients needs --issuer"),
        (["--trust"], "--trust needs --issuer"),
        (["--issuer", "http://127.0.0.1:1"], "--issuer needs --mail-dir or --smtp-url"),
    ],
)
def test_options_that_lack_another_one(split: Split, options: list[str], reason: str) -> None:
    command = [str(ROOT / "build/mpind"), "config", "check", "rps", *options]
    needed = ["--database", split.database(), "--key-file", "k", "--dta1-key-file", "k", "--dta2-key-file", "k"]
    answer = subprocess.run([*command, *needed], capture_output=True, text=True)
    assert answer.returncode == 64
    assert reason in answer.stderr
