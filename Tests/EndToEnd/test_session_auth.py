"""Requests to APIs by the packages requests and httpx, and sessions in asyncio."""

from __future__ import annotations

import asyncio
import io
import threading
from typing import Any, Callable

import httpx
import mpin
import pytest
import requests
from session_fixtures import API, PUBLIC, App

LATER = 1200
#: What sends a request with the token of a session: (session, method, url, body) -> status.
Send = Callable[..., int]


def by_requests(session: mpin.Session, method: str, url: str, body: Any = None) -> int:
    return requests.request(method, url, data=body, auth=session.requests_auth()).status_code


def by_httpx(session: mpin.Session, method: str, url: str, body: Any = None) -> int:
    with httpx.Client(auth=session.httpx_auth(), follow_redirects=True) as client:
        return client.request(method, url, content=body).status_code


def by_asyncio(session: mpin.Session, method: str, url: str, body: Any = None) -> int:
    async def send() -> int:
        async with httpx.AsyncClient(auth=session.httpx_auth(), follow_redirects=True) as client:
            return (await client.request(method, url, content=body)).status_code

    return asyncio.run(send())


everyone = pytest.mark.parametrize("send", [by_requests, by_httpx, by_asyncio])


@everyone
def test_refused_token_is_renewed_once(app: App, send: Send) -> None:
    session = app.log_in()
    assert send(session, "GET", API) == 200 and app.proxy.renewals() == 0
    app.proxy.refused.add(session.access_token())
    assert send(session, "POST", API, b"order") == 200
    assert app.proxy.renewals() == 1 and app.proxy.api_bodies == [b"", b"order", b"order"]
    assert len(set(app.proxy.api_tokens)) == 2


@everyone
def test_api_that_refuses_every_token(app: App, send: Send) -> None:
    """The request is repeated once, and then the answer is the app's."""
    session = app.log_in()
    app.proxy.refuses_all = True
    assert send(session, "GET", API) == 401
    assert app.proxy.renewals() == 1 and len(app.proxy.api_tokens) == 2


@everyone
def test_other_errors_are_not_repeated(app: App, send: Send) -> None:
    session = app.log_in()
    assert send(session, "GET", f"{PUBLIC}/nothing-here") == 404
    assert app.proxy.renewals() == 0 and app.proxy.asked["/nothing-here"] == 1


@everyone
def test_redirect_to_another_origin_loses_the_token(app: App, send: Send) -> None:
    session = app.log_in()
    assert send(session, "GET", f"{PUBLIC}/away") == 401
    assert app.proxy.api_tokens == [""] and app.proxy.renewals() == 0


@everyone
def test_request_to_another_origin_is_not_sent(app: App, send: Send) -> None:
    session = app.log_in()
    with pytest.raises(mpin.UntrustedDomainError):
        send(session, "GET", API.replace("127.0.0.1", "localhost"))
    assert not app.proxy.api_tokens


def test_file_is_sent_again_and_a_stream_is_not(app: App) -> None:
    session = app.log_in()
    app.proxy.refused.add(session.access_token())
    body = io.BytesIO(b"...order")
    body.seek(3)
    assert by_requests(session, "POST", API, body) == 200
    assert app.proxy.api_bodies == [b"order", b"order"]
    app.proxy.refused.add(session.access_token())
    assert by_requests(session, "POST", API, iter([b"or", b"der"])) == 401
    assert by_httpx(session, "POST", API, iter([b"or", b"der"])) == 401
    assert app.proxy.renewals() == 1


def test_tasks_make_one_renewal(app: App) -> None:
    session = mpin.aio.Session(app.log_in())
    app.later = LATER

    async def tokens() -> list[str]:
        return await asyncio.gather(*(session.access_token() for _ in range(50)))

    assert len(set(asyncio.run(tokens()))) == 1 and app.proxy.renewals() == 1


def test_cancelled_task_does_not_end_the_renewal_of_others(app: App) -> None:
    session = mpin.aio.Session(app.log_in())
    app.later = LATER

    async def tokens() -> tuple[str, str]:
        loop, asked, may_answer = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

        def hold(body: bytes) -> bytes:
            loop.call_soon_threadsafe(asked.set)
            may_answer.wait()
            return body

        app.proxy.requests["/oidc/token"] = hold
        first, second = (asyncio.create_task(session.access_token()) for _ in range(2))
        await asked.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        may_answer.set()
        return await second, session.session.access_token()

    assert len(set(asyncio.run(tokens()))) == 1 and app.proxy.renewals() == 1


def test_cancelled_login(app: App) -> None:
    async def log_in() -> None:
        loop, opened = asyncio.get_running_loop(), asyncio.Event()

        def open_browser(_: str) -> bool:
            loop.call_soon_threadsafe(opened.set)
            return True

        session = mpin.aio.Session(app.open(open_browser=open_browser))
        session.session.add_provider(mpin.Provider("web", "app", PUBLIC, mpin.Login.BROWSER))
        login = asyncio.create_task(session.login("web"))
        await opened.wait()
        login.cancel()
        with pytest.raises(asyncio.CancelledError):
            await login
        assert session.session.state is mpin.SessionState.SIGNED_OUT

    asyncio.run(log_in())


def test_session_as_a_block(app: App) -> None:
    async def run() -> str:
        async with mpin.aio.open(app.store) as sdk, mpin.aio.open_session(sdk.sdk) as session:
            return session.session.state.name

    assert asyncio.run(run()) == "SIGNED_OUT"
