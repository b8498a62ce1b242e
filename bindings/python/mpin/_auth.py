"""Authorization of requests to APIs, for the packages requests and httpx. Neither is needed to import this module."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Generator
from typing import TYPE_CHECKING, Any

from ._errors import UntrustedDomainError

if TYPE_CHECKING:
    from .session import Session


class RequestsAuth:
    """Adds the access token to requests of the package `requests`, and renews it once if the API answers 401."""

    def __init__(self, session: Session, may_interact: bool) -> None:
        self._session = session
        self._may_interact = may_interact

    def __call__(self, request: Any) -> Any:
        request.headers["Authorization"] = self._session.authorization(request.url, may_interact=self._may_interact)
        request.register_hook("response", functools.partial(self._answered, _position(request.body)))
        return request

    def _answered(self, position: int | None, response: Any, **options: Any) -> Any:
        # A redirect to another origin has removed the token, and then the answer is not about it.
        rejected = response.request.headers.get("Authorization")
        if response.status_code != 401 or not rejected or not _is_repeatable(response.request.body, position):
            return response
        try:
            value = self._session.authorization(response.request.url, rejected, self._may_interact)
        except UntrustedDomainError:
            return response
        # The connection can be used again as soon as the answer is read.
        response.content
        response.close()
        again = response.request.copy()
        again.hooks = {"response": []}
        again.headers["Authorization"] = value
        if position is not None:
            again.body.seek(position)
        repeated = response.connection.send(again, **options)
        repeated.history.append(response)
        repeated.request = again
        return repeated


def _position(body: Any) -> int | None:
    """Where a body that is a file begins; None for any other body."""
    try:
        return int(body.tell())
    except (AttributeError, OSError):
        return None


def _is_repeatable(body: Any, position: int | None) -> bool:
    return body is None or isinstance(body, (bytes, str)) or position is not None


def httpx_auth(session: Session, may_interact: bool) -> Any:
    """The authorization as an httpx.Auth."""
    import anyio.to_thread
    import httpx

    class HttpxAuth(httpx.Auth):
        """Adds the access token to requests of httpx, and renews it once if the API answers 401."""

        def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
            value = session.authorization(str(request.url), may_interact=may_interact)
            request.headers["Authorization"] = value
            response = yield request
            if is_refused(request, response):
                value = session.authorization(str(request.url), value, may_interact)
                request.headers["Authorization"] = value
                yield request

        async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
            # A renewal may take seconds, so it runs in a thread.
            authorization = functools.partial(anyio.to_thread.run_sync, session.authorization, str(request.url))
            value = await authorization(None, may_interact)
            request.headers["Authorization"] = value
            response = yield request
            if is_refused(request, response):
                request.headers["Authorization"] = await authorization(value, may_interact)
                yield request

    def is_refused(request: httpx.Request, response: httpx.Response) -> bool:
        """Whether the API has refused the token, and the request can be sent again. A redirect to another origin has
        removed the token, and then the answer is not about it."""
        is_whole = isinstance(request.stream, httpx.ByteStream)
        return response.status_code == 401 and is_whole and "Authorization" in response.request.headers

    return HttpxAuth()
