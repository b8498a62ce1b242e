"""The asyncio client against a real server, and against one that never answers."""

import asyncio
import inspect
import json
import pathlib
import socket
import time
from collections.abc import Iterator

import pytest

import mpin
from mpin import State, aio


def test_every_call_has_its_coroutine() -> None:
    def calls(kind: type) -> "set[str]":
        return {name for name, member in inspect.getmembers(kind, callable) if not name.startswith("_")}

    assert calls(aio.SDK) == calls(mpin.SDK) - {"cancel", "close"}


def test_every_call_of_a_project_has_its_coroutine() -> None:
    def calls(kind: type) -> "set[str]":
        return {name for name, member in inspect.getmembers(kind, callable) if not name.startswith("_")}

    assert calls(aio.Trust) == calls(mpin.Trust) - {"cancel", "close"}


def test_registration_and_logins_at_once(tmp_path: pathlib.Path, server: str) -> None:
    async def register(sdk: aio.SDK, id: str) -> mpin.User:
        user = await sdk.make_new_user(id, device_name="phone")
        await sdk.start_registration(user)
        await sdk.confirm_registration(user)
        await sdk.finish_registration(user, "1234")
        return user

    async def login(sdk: aio.SDK, user: mpin.User) -> str:
        await sdk.start_authentication(user)
        return await sdk.finish_authentication(user, "1234")

    async def walk() -> None:
        async with aio.open(tmp_path / "store", backend=server) as sdk:
            users = await asyncio.gather(*(register(sdk, f"aio-{name}") for name in ("alice", "bob")))
            assert [user.state for user in users] == [State.REGISTERED] * 2
            answers = await asyncio.gather(*(login(sdk, user) for user in users))
            assert all(isinstance(json.loads(answer), dict) for answer in answers)
            await sdk.start_authentication(users[0])
            with pytest.raises(mpin.IncorrectPinError) as raised:
                await sdk.finish_authentication(users[0], "4321")
            assert raised.value.http_status == 401
        with pytest.raises(mpin.InvalidHandleError):
            await sdk.list_users()

    asyncio.run(walk())


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_cancelled_task_cancels_its_call(tmp_path: pathlib.Path, server: str, silent: str) -> None:
    async def walk() -> None:
        async with aio.open(tmp_path / "store", timeout=30) as sdk:
            for delay in (0.0, 0.2):
                started = time.monotonic()
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(sdk.test_backend(silent), delay)
                assert time.monotonic() - started < 20
            await sdk.test_backend(server)

    asyncio.run(walk())


def test_the_loop_goes_on_meanwhile(tmp_path: pathlib.Path, silent: str) -> None:
    async def walk() -> None:
        async with aio.open(tmp_path / "store", timeout=1) as sdk:
            call = asyncio.ensure_future(sdk.test_backend(silent))
            turns = 0
            while not call.done():
                turns += 1
                await asyncio.sleep(0.01)
            assert turns > 2
            with pytest.raises(mpin.TimedOutError):
                await call

    asyncio.run(walk())


def test_an_opening_that_is_cancelled_leaves_nothing_open(tmp_path: pathlib.Path, silent: str) -> None:
    async def walk() -> None:
        async def use() -> None:
            async with aio.open(tmp_path / "store", backend=silent, timeout=0.5):
                raise AssertionError("opened")

        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(use(), 0.1)

    asyncio.run(walk())
