"""The client for asyncio: the calls of mpin.SDK as coroutines, one at a time, each in a thread.

    async with mpin.aio.open("/home/alice/.mpin", backend="https://login.example.com") as sdk:
        user = await sdk.make_new_user("alice@example.com")
        await sdk.start_registration(user)

Cancelling a task cancels the call that it waits for. The properties of a mpin.User can be read at any time.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, AsyncContextManager, Callable, TypeVar

from . import _trust
from . import sdk as _blocking
from . import session as _session
from ._handles import Closable

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

A = TypeVar("A")
B = TypeVar("B", bound=Closable)
T = TypeVar("T")

#: The pause between two cancels of a call, in seconds. A cancel may come before the call has begun, so it is repeated.
_PAUSE = 0.05


class _Turns:
    """The calls of one blocking client as coroutines, one at a time."""

    def __init__(self, client: _blocking.SDK | _trust.Trust) -> None:
        self._client = client
        self._turn = asyncio.Lock()

    async def _call(self, work: Callable[[], T]) -> T:
        async with self._turn:
            call = asyncio.ensure_future(asyncio.to_thread(work))
            try:
                return await asyncio.shield(call)
            except asyncio.CancelledError:
                while not call.done():
                    self._client.cancel()
                    await asyncio.wait({call}, timeout=_PAUSE)
                call.exception()
                raise


def _coroutine(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    @functools.wraps(method)
    async def call(self: Any, /, *args: P.args, **named: P.kwargs) -> T:
        result: T = await self._call(functools.partial(method, self._client, *args, **named))
        return result

    return call


class SDK(_Turns):
    """The calls of one mpin.SDK as coroutines. open() makes it."""

    def __init__(self, sdk: _blocking.SDK) -> None:
        super().__init__(sdk)
        #: The blocking client.
        self.sdk = sdk

    abort_session = _coroutine(_blocking.SDK.abort_session)
    add_custom_header = _coroutine(_blocking.SDK.add_custom_header)
    add_factor = _coroutine(_blocking.SDK.add_factor)
    add_trusted_domain = _coroutine(_blocking.SDK.add_trusted_domain)
    can_logout = _coroutine(_blocking.SDK.can_logout)
    change_pin = _coroutine(_blocking.SDK.change_pin)
    check_access_number = _coroutine(_blocking.SDK.check_access_number)
    clear_custom_headers = _coroutine(_blocking.SDK.clear_custom_headers)
    clear_trusted_domains = _coroutine(_blocking.SDK.clear_trusted_domains)
    clear_users = _coroutine(_blocking.SDK.clear_users)
    confirm_registration = _coroutine(_blocking.SDK.confirm_registration)
    damaged_records = _coroutine(_blocking.SDK.damaged_records)
    delete_user = _coroutine(_blocking.SDK.delete_user)
    delete_users = _coroutine(_blocking.SDK.delete_users)
    destroy = _coroutine(_blocking.SDK.destroy)
    finish_authentication = _coroutine(_blocking.SDK.finish_authentication)
    finish_authentication_an = _coroutine(_blocking.SDK.finish_authentication_an)
    finish_authentication_mfa = _coroutine(_blocking.SDK.finish_authentication_mfa)
    finish_authentication_otp = _coroutine(_blocking.SDK.finish_authentication_otp)
    finish_authentication_reg_code = _coroutine(_blocking.SDK.finish_authentication_reg_code)
    finish_registration = _coroutine(_blocking.SDK.finish_registration)
    finish_registration_dvs = _coroutine(_blocking.SDK.finish_registration_dvs)
    finish_verification = _coroutine(_blocking.SDK.finish_verification)
    get_access_code = _coroutine(_blocking.SDK.get_access_code)
    get_auth_data = _coroutine(_blocking.SDK.get_auth_data)
    get_client_param = _coroutine(_blocking.SDK.get_client_param)
    get_service_details = _coroutine(_blocking.SDK.get_service_details)
    get_session_details = _coroutine(_blocking.SDK.get_session_details)
    get_user = _coroutine(_blocking.SDK.get_user)
    import_storage = _coroutine(_blocking.SDK.import_storage)
    list_all_users = _coroutine(_blocking.SDK.list_all_users)
    list_backend_users = _coroutine(_blocking.SDK.list_backend_users)
    list_backends = _coroutine(_blocking.SDK.list_backends)
    list_users = _coroutine(_blocking.SDK.list_users)
    logout = _coroutine(_blocking.SDK.logout)
    make_new_user = _coroutine(_blocking.SDK.make_new_user)
    restart_registration = _coroutine(_blocking.SDK.restart_registration)
    set_backend = _coroutine(_blocking.SDK.set_backend)
    set_client_id = _coroutine(_blocking.SDK.set_client_id)
    set_registration_token = _coroutine(_blocking.SDK.set_registration_token)
    sign = _coroutine(_blocking.SDK.sign)
    start_authentication = _coroutine(_blocking.SDK.start_authentication)
    start_authentication_mfa = _coroutine(_blocking.SDK.start_authentication_mfa)
    start_authentication_otp = _coroutine(_blocking.SDK.start_authentication_otp)
    start_authentication_reg_code = _coroutine(_blocking.SDK.start_authentication_reg_code)
    start_registration = _coroutine(_blocking.SDK.start_registration)
    start_registration_dvs = _coroutine(_blocking.SDK.start_registration_dvs)
    start_registration_mfa = _coroutine(_blocking.SDK.start_registration_mfa)
    start_verification = _coroutine(_blocking.SDK.start_verification)
    test_backend = _coroutine(_blocking.SDK.test_backend)
    user_exists = _coroutine(_blocking.SDK.user_exists)


class Trust(_Turns):
    """The calls of one mpin.Trust as coroutines. open_trust() makes it. `ask` of register() runs in a thread."""

    def __init__(self, trust: _trust.Trust) -> None:
        super().__init__(trust)
        #: The blocking client.
        self.trust = trust

    abort_session = _coroutine(_trust.Trust.abort_session)
    authenticate = _coroutine(_trust.Trust.authenticate)
    authenticate_with_app_link = _coroutine(_trust.Trust.authenticate_with_app_link)
    authenticate_with_push_payload = _coroutine(_trust.Trust.authenticate_with_push_payload)
    authenticate_with_qr_code = _coroutine(_trust.Trust.authenticate_with_qr_code)
    change_pin = _coroutine(_trust.Trust.change_pin)
    delete_user = _coroutine(_trust.Trust.delete_user)
    export_users = _coroutine(_trust.Trust.export_users)
    finish_registration = _coroutine(_trust.Trust.finish_registration)
    generate_quick_code = _coroutine(_trust.Trust.generate_quick_code)
    get_activation_token = _coroutine(_trust.Trust.get_activation_token)
    get_activation_token_by_link = _coroutine(_trust.Trust.get_activation_token_by_link)
    get_session_details = _coroutine(_trust.Trust.get_session_details)
    get_user = _coroutine(_trust.Trust.get_user)
    import_users = _coroutine(_trust.Trust.import_users)
    list_all_users = _coroutine(_trust.Trust.list_all_users)
    list_users = _coroutine(_trust.Trust.list_users)
    register = _coroutine(_trust.Trust.register)
    send_verification_email = _coroutine(_trust.Trust.send_verification_email)
    set_project = _coroutine(_trust.Trust.set_project)
    sign = _coroutine(_trust.Trust.sign)
    sign_session = _coroutine(_trust.Trust.sign_session)
    start_registration = _coroutine(_trust.Trust.start_registration)


class Session:
    """The calls of one mpin.Session as coroutines, several at a time. open_session() makes it.

    What does not wait for the network is read from `session`, such as `session.session.state`. If a task is cancelled,
    its login is, too; but a call that others may wait for, such as a renewal, goes on without the task.
    """

    def __init__(self, session: _session.Session) -> None:
        #: The blocking session.
        self.session = self._client = session
        self._running = 0

    async def _call(self, work: Callable[[], T]) -> T:
        call = asyncio.ensure_future(asyncio.to_thread(work))
        self._running += 1
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            while self._running == 1 and not call.done():
                self.session.cancel()
                await asyncio.wait({call}, timeout=_PAUSE)
            # Nobody else asks for the outcome.
            call.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            raise
        finally:
            self._running -= 1

    access_token = _coroutine(_session.Session.access_token)
    authorization = _coroutine(_session.Session.authorization)
    clear = _coroutine(_session.Session.clear)
    handover = _coroutine(_session.Session.handover)
    login = _coroutine(_session.Session.login)
    logout = _coroutine(_session.Session.logout)
    renew = _coroutine(_session.Session.renew)
    revoke = _coroutine(_session.Session.revoke)


def _opening(make: Callable[P, B], wrap: Callable[[B], A]) -> Callable[P, AsyncContextManager[A]]:
    @asynccontextmanager
    async def open(*args: P.args, **named: P.kwargs) -> AsyncIterator[A]:
        """Opens a client as the blocking class does, and closes it at the end of the block."""
        opened = asyncio.ensure_future(asyncio.to_thread(functools.partial(make, *args, **named)))
        try:
            client = await asyncio.shield(opened)
        except asyncio.CancelledError:
            # The client has no handle yet, so the call that opens it cannot be cancelled. The call ends within its
            # timeout.
            opened.add_done_callback(_close)
            raise
        try:
            yield wrap(client)
        finally:
            await asyncio.to_thread(client.close)

    return open


def _close(opened: asyncio.Future[B]) -> None:
    if not opened.cancelled() and opened.exception() is None:
        opened.result().close()


open = _opening(_blocking.SDK, SDK)
open_trust = _opening(_trust.Trust, Trust)
#: Its first argument is the blocking sdk: `async with open(path) as sdk, open_session(sdk.sdk) as session`.
open_session = _opening(_session.Session, Session)
