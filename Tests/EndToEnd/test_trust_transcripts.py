"""Every recorded request of a browser client of MIRACL Trust, in its order, with fresh values. Each answer must have the
recorded status and error, and exactly the recorded members with the recorded JSON types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from node import ROOT
from trust_phone import Begun, Body, Client, Device, Keys, good, wid
from trust_server import PROJECT, TrustServer

FLOWS = sorted((ROOT / "Tests/Vectors/transcripts").glob("trust-*.json"))
#: The flows that begin without a device, or register one themselves.
WITHOUT_DEVICE = {"01", "02", "03", "12", "14"}


def exchanges(path: Path) -> list[Body]:
    return list(json.loads(path.read_text())["exchanges"])


class Player:
    """Plays one flow. It has a method for each path, which returns the members of the request that must be fresh."""

    def __init__(self, trust: TrustServer, flow: list[Body], has_device: bool) -> None:
        self.trust = trust
        self.client: Client = trust.client()
        self.flow = flow
        self.user = trust.user()
        self.device: Device | None = None
        self.answer: Body = {}
        self.begun: Begun | None = None
        self.session: Body = {}
        self.shares: list[str] = []
        self.keys = Keys.new()
        self.token = self.jwt = self.wid = ""
        if has_device:
            self.device = self.registered()

    def registered(self) -> Device:
        """A device that is there before the flow. Its user is verified without a mail, because the flow may ask for
        one."""
        begun = requests.post(
            self.trust.url + "/activate/initiate", json={"userId": self.user},
            headers={"Authorization": f"Bearer {self.trust.service_token()}"}, timeout=60,
        )  # fmt: skip
        return self.client.register(self.user, good(begun)["actToken"], pushToken="token")

    def play(self) -> None:
        for number, exchange in enumerate(self.flow):
            request, recorded = exchange["request"], exchange["response"]
            method, target, body = request["method"], request["target"], request.get("body")
            fresh = self.fresh(number, target.partition("?")[0], body or {}, recorded)
            assert fresh.keys() <= (body or {}).keys() | {"GET"}, f"{target}: {fresh.keys()}"
            headers = {name: value for name, value in request["headers"].items() if name != "Content-Length"}
            # A redirect URI of ours is https, and the recorded one was not.
            url = fresh.pop("GET", self.trust.url + target.replace("=http%3A", "=https%3A"))
            sent = None if body is None else json.dumps({**body, **fresh})
            answer = requests.request(method, url, data=sent, headers=headers, timeout=60)
            self.compare(f"{number} {target}", answer, recorded)
            self.take(target.partition("?")[0], answer.json())

    def fresh(self, number: int, path: str, body: Body, recorded: Body) -> Body:
        """The members of a request that were others when it was recorded."""
        user = {name: self.user for name in ("userId",) if name in body}
        if path == "/verification/email":
            return {**user, **({"mpinId": self.known.id} if "mpinId" in body else {})}
        if path == "/verification/confirmation":
            return {**user, **({"code": self.trust.code(self.user)} if recorded["status"] == 200 else {})}
        if path == "/registration":
            self.keys, self.shares = Keys.new(), []
            return {**user, "activationToken": self.token, "publicKey": self.keys.public.hex()}
        if path.startswith("/dta/"):
            return {"GET": self.answer["secretUrls"][int(path.split("/")[2])]}
        if path == "/rps/v2/pass1":
            self.begun = self.known.begin(self.pin(number), body["scope"][0])
            return {name: self.begun.body[name] for name in ("mpin_id", "dtas", "publicKey", "U")}
        if path == "/rps/v2/pass2":
            assert self.begun
            return self.begun.proof(self.answer["y"], self.wid if "WID" in body else None)
        if path == "/rps/v2/authenticate":
            return {"authOTT": self.answer["authOTT"]}
        if path == "/rps/v2/access":
            return {"webOTT": self.session["webOTT"]}
        if path == "/verification/quickcode":
            return {"jwt": self.jwt}
        if path == "/pushauth":
            return {"prerollId": self.user} if recorded["status"] == 200 else {}
        assert path == "/rps/v2/session", path
        return user

    @property
    def known(self) -> Device:
        assert self.device
        return self.device

    def pin(self, number: int) -> str:
        """A wrong PIN if the login that begins with this exchange was refused."""
        verdict = next(
            (later for later in self.flow[number:] if later["request"]["target"] == "/rps/v2/authenticate"), None
        )
        return "1234" if verdict is None or verdict["response"]["status"] == 200 else "4321"

    def compare(self, place: str, answer: requests.Response, recorded: Body) -> None:
        assert answer.status_code == recorded["status"], f"{place}: {answer.text}"
        assert kinds(answer.json()) == kinds(recorded["body"]), place
        assert answer.json().get("error") == recorded["body"].get("error"), place

    def take(self, path: str, answer: Body) -> None:
        """Notes what later requests need of an answer."""
        self.answer = {**self.answer, **answer}
        self.jwt = answer.get("jwt", self.jwt)
        renewal = answer.get("dvsRegister", {}).get("token")
        self.token = answer.get("actToken") or answer.get("code") or renewal or self.token
        if path == "/rps/v2/session":
            self.session, self.wid = answer, wid(answer["qrURL"])
        if path == "/pushauth" and "webOTT" in answer:
            self.session = answer
            self.wid = wid(json.loads(self.trust.pushes.next(self.user)["body"])["qrURL"])
        if path.startswith("/dta/"):
            self.shares.append(answer["dvsClientSecret"])
            if len(self.shares) == 2:
                self.device = Device.made(self.answer, self.shares, self.keys)


def kinds(value: Any) -> Any:
    """The JSON types of a value and of its members."""
    if isinstance(value, dict):
        return {name: kinds(member) for name, member in value.items()}
    return "number" if isinstance(value, (int, float)) else type(value).__name__


def flows() -> Iterator[Any]:
    for path in FLOWS:
        yield pytest.param(path, id=path.stem)


def test_all_flows_are_there() -> None:
    assert [path.stem[6:8] for path in FLOWS] == [f"{number:02}" for number in range(1, 15)]
    assert sum(len(exchanges(path)) for path in FLOWS) == 69


@pytest.mark.parametrize("path", flows())
def test_recorded_requests_get_the_recorded_answers(trust: TrustServer, path: Path) -> None:
    number = path.stem[6:8]
    player = Player(trust, exchanges(path), has_device=number not in WITHOUT_DEVICE)
    if number == "02":
        good(player.client.verify(player.user))
    if number == "10":
        trust.operate("user", "renew", f"{PROJECT}/{player.user}")
    player.play()
    assert PROJECT in json.dumps(exchanges(path))
