"""Very many guesses of one PIN, all in flight at the same time."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections import Counter
from collections.abc import Callable

from invariants import LIMIT, judged_for
from mpin import crypto
from node import PIN, Server, accepted
from phone import wait_until
from roaming import registered
from two_nodes import refusal

#: The open challenges that the proofs answer, at each node.
CHALLENGES = 2


def flood(
    nodes: list[Server], count: int, break_it: Callable[[], None] | None = None, mend: Callable[[], None] | None = None
) -> str:
    """Sends `count` proofs for one identity, of as many different PINs, over as many connections to all nodes. Each is sent
    but for its last byte at first, and then the last bytes of all, before an answer is read. At most three are judged.
    break_it: is called when the last bytes of one half are sent and a proof is being judged. Then those of the other half are
    sent, and `mend` is called: so proofs are on their way at both moments."""
    phone = registered(nodes, "flooded@example.com")
    phone.request_id = "flooded"
    bodies = proofs(nodes, phone.user, phone.id, phone.token, count, phone.time_permit())
    answers, took = asyncio.run(sent(nodes, bodies, phone.request_id, break_it, mend))
    statuses = Counter(int(answer.split()[1]) for answer in answers)
    # 200: a token, from which the website hears the verdict: wrong, or blocked. 403: the challenge is gone. 503: others are
    # being judged, or the database is lost.
    assert set(statuses) <= {200, 403, 410, 503}, statuses
    # On a busy machine the last bytes of the second half may come so late that a node has closed their connections.
    assert len(answers) == count or break_it and len(answers) >= count // 2, len(answers)
    for answer in answers:
        assert answer.split()[1] != b"503" or b"retry-after:" in answer.lower(), answer
        if answer.split()[1] == b"200":
            token = json.loads(answer.partition(b"\r\n\r\n")[2])
            assert not accepted(lambda token=token: phone.authenticate(token)), "a wrong PIN was taken"
    found = judged_for(nodes)[phone.request_id]
    assert 0 < found <= LIMIT, f"{found} guesses were judged"
    wait_until(lambda: refusal(phone, "4321") == 410)
    assert refusal(phone, PIN) == 410, "the right PIN of a blocked identity"
    found = judged_for(nodes)[phone.request_id]
    assert found <= LIMIT, f"{found} guesses were judged"
    return f"{count} PINs guessed at once at {len(nodes)} nodes, {found} judged; answers within {took:.1f} s: {dict(statuses)}"


def proofs(
    nodes: list[Server], user: str, identity: bytes, token: bytes, count: int, permit: tuple[int, bytes | None]
) -> list[bytes]:
    """The bodies of second passes, each for another wrong PIN, for challenges that are open at all nodes."""
    wrong = [pin for pin in (f"{number:04}" for number in range(10_000)) if pin != PIN]
    begun = [(node, crypto.random_generate()) for node in nodes for _ in range(CHALLENGES)]
    challenges = [(x, challenge(node, identity, x, token, permit)) for node, x in begun]
    bodies = []
    for pin, (x, y) in zip(wrong[:count], itertools.cycle(challenges)):
        sec, _, _ = crypto.client_1(permit[0], identity, x, *scalar(pin), token, permit[1])
        v = crypto.client_2(x, y, sec).hex()
        bodies.append(json.dumps({"pass": 2, "mpin_id": identity.hex(), "V": v, "WID": "0", "OTP": False}).encode())
    return bodies


def challenge(node: Server, identity: bytes, x: bytes, token: bytes, permit: tuple[int, bytes | None]) -> bytes:
    """Begins a login at a node. Returns y."""
    _, u, ut = crypto.client_1(permit[0], identity, x, *scalar("4321"), token, permit[1])
    body = {"pass": 1, "mpin_id": identity.hex(), "U": u.hex(), "UT": (ut or b"").hex()}
    return bytes.fromhex(registered([node], "asking@example.com").ask("POST", "/rps/pass1", body)["y"])


def scalar(pin: str) -> tuple[bytes, int]:
    return crypto.pin_to_scalar(crypto.PinMapping.DECIMAL4, pin.encode())


async def sent(
    nodes: list[Server], bodies: list[bytes], name: str, break_it: Callable[[], None] | None, mend: Callable[[], None] | None
) -> tuple[list[bytes], float]:
    """Sends all bodies together, or with `break_it` one half and then the other. Returns the answers, and the seconds until the
    last one."""
    places = itertools.cycle(("127.0.0.1", node.port) for node in nodes)
    opened = [await asyncio.open_connection(*place) for _, place in zip(bodies, places)]
    head = f"POST /rps/pass2 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nX-Request-Id: {name}\r\n"
    head += "Connection: close\r\nContent-Length: "
    for (_, writer), body in zip(opened, bodies, strict=True):
        writer.write(f"{head}{len(body)}\r\n\r\n".encode() + body[:-1])
    await asyncio.gather(*(writer.drain() for _, writer in opened))
    begun = time.monotonic()
    ends = [(writer, body[-1:]) for (_, writer), body in zip(opened, bodies, strict=True)]
    middle = len(ends) // 2 if break_it else 0
    for writer, end in ends[:middle]:
        writer.write(end)
    answering = [asyncio.create_task(reader.read()) for reader, _ in opened]
    if break_it:
        # The verdict is hardly in the database then.
        await asyncio.to_thread(wait_until, lambda: judged_for(nodes)[name])
        break_it()
    for writer, end in ends[middle:]:
        writer.write(end)
    if mend:
        await asyncio.to_thread(mend)
    answers = await asyncio.gather(*answering, return_exceptions=True)
    took = time.monotonic() - begun
    for _, writer in opened:
        writer.close()
    return [answer for answer in answers if isinstance(answer, bytes) and answer], took
