"""The admin API of a running mpind, as operators and their programs use it."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import mpin
import pytest
from phone import Phone, Refused

ROOT = Path(__file__).resolve().parents[2]
BACKEND, ADMIN, WORK = os.environ["MPIN_BACKEND"], os.environ["MPIN_ADMIN"], Path(os.environ["MPIN_WORK"])
GUIDE = (ROOT / "docs/admin-api.md").read_text()
STATE = WORK / "state"
PIN = "1234"


def mpind(*arguments: str, code: int = 0, state: Path = STATE) -> str:
    """Runs a command of the operator, and returns its standard output, or standard error if it fails."""
    command = [str(ROOT / "build/mpind"), *arguments, "--state-dir", str(state)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, (command, done)
    return done.stderr if code else done.stdout


def make_token(name: str, *scopes: str) -> str:
    return mpind("admin", "token", "add", name, *(f"--scope={scope}" for scope in scopes)).splitlines()[-1]


def ask(method: str, path: str, token: str, body: Any = None) -> tuple[int, dict[str, Any]]:
    with closing(http.client.HTTPConnection(urlsplit(ADMIN).netloc, timeout=60)) as connection:
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, {"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def registered(user: str) -> Phone:
    phone = Phone(BACKEND, user)
    assert phone.start_registration()
    phone.finish_registration(PIN)
    return phone


@pytest.fixture
def sdk(tmp_path: Path) -> Iterator[mpin.SDK]:
    with mpin.SDK(str(tmp_path / "store"), backend=BACKEND) as sdk:
        yield sdk


def password_of(sdk: mpin.SDK, user: str) -> str:
    """Registers a user with the client library, and returns the one-time password of a login."""
    made = sdk.make_new_user(user)
    sdk.start_registration(made)
    sdk.confirm_registration(made)
    sdk.finish_registration(made, PIN)
    sdk.start_authentication_otp(made)
    return str(sdk.finish_authentication_otp(made, PIN).otp)


def test_the_command_makes_lists_and_removes_tokens() -> None:
    assert mpind("admin", "token", "list") == "there is no token\n"
    said = mpind("admin", "token", "first", "--scope", "users:read", "--scope", "audit", "--days", "2").splitlines()
    assert re.fullmatch(r"first: users:read audit, until 20\S+Z", said[0]) and len(said) == 2
    token = said[1]
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", token)
    assert ask("GET", "/users", token)[0] == 200
    assert ask("GET", "/clients", token)[0] == 403
    listed = json.loads(mpind("admin", "token", "list", "--json"))
    assert listed["name"] == "first" and listed["scopes"] == ["users:read", "audit"] and not listed["isExpired"]
    assert token not in mpind("admin", "token", "list")
    made = json.loads(mpind("admin", "token", "add", "second", "--scope", "otp", "--json"))
    assert made["scopes"] == ["otp"] and ask("GET", "/users", made["token"])[0] == 403
    assert "there is a token first already" in mpind("admin", "token", "add", "first", "--scope=otp", code=1)
    assert "must be 1 to 64 of" in mpind("admin", "token", "add", "a b", "--scope=otp", code=1)
    for wrong in [["--scope=everything"], [], ["--scope=otp", "--days=0"], ["--scope=otp", "--days=3651"]]:
        mpind("admin", "token", "add", "third", *wrong, code=64)
    for name in ["first", "second"]:
        assert mpind("admin", "token", "remove", name) == f"{name}: removed\n"
    assert ask("GET", "/users", token)[0] == 401
    assert "there is no token first" in mpind("admin", "token", "remove", "first", code=2)
    for path in [*STATE.rglob("*"), WORK / "mpind.log"]:
        assert not path.is_file() or token.encode() not in path.read_bytes(), path
    log = (STATE / "audit/audit.jsonl").read_text()
    for command in ["add", "list", "remove"]:
        assert f'"command":"admin token {command}"' in log


def test_a_blocked_phone_logs_in_again_after_the_unblock() -> None:
    token, user = make_token("desk", "users:write"), "dora@example.com"
    phone = registered(user)
    path = f"/users/{quote(user, safe='')}"
    assert ask("POST", f"{path}/block", token)[1]["devices"][0]["state"] == "blocked"
    with pytest.raises(Refused) as refusal:
        phone.login(PIN)
    assert refusal.value.status == 410
    assert ask("POST", f"{path}/unblock", token)[1]["devices"][0]["state"] == "active"
    phone.login(PIN)
    mpind("user", "block", user)
    with pytest.raises(Refused):
        phone.login(PIN)
    mpind("user", "unblock", user)
    phone.login(PIN)
    assert '"token":"desk"' in (STATE / "audit/audit.jsonl").read_text()


def test_the_digits_of_a_real_client_are_a_password_once(sdk: mpin.SDK) -> None:
    token, user = make_token("vpn", "otp"), "erin@example.com"
    body = {"user": user, "otp": password_of(sdk, user)}
    assert ask("POST", "/otp/verify", token, {**body, "user": "dora@example.com"})[0] == 403
    assert ask("POST", "/otp/verify", token, body) == (200, {"user": user})
    assert ask("POST", "/otp/verify", token, body)[0] == 403


def test_the_examples_of_the_guide(sdk: mpin.SDK, tmp_path: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
    assert blocks[0].startswith("mpind --all-in-one ") and "--admin-listen 127.0.0.1:8090" in blocks[0]
    assert len(blocks) >= 8
    # The page deletes the user before it checks the user's password, so the check comes first here.
    examples = sorted(blocks[1:], key=lambda block: "DELETE" in block and "/users/" in block)
    (tmp_path / "state").symlink_to(STATE)
    script = "\n".join(["set -eu", 'mpind() { "$MPIND" "$@"; }', *examples])
    environment = {
        **os.environ, "MPIND": str(ROOT / "build/mpind"), "OTP": password_of(sdk, "alice@example.com"),
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "-c", script.replace("http://127.0.0.1:8090", ADMIN)], cwd=tmp_path, env=environment, timeout=60,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done
    for said in ['"name":"The shop"', '"secret":"', '"removed":"shop"', '"state":"blocked"', '"lines":[{', "ops  "]:
        assert said in done.stdout.replace(": ", ":"), (said, done.stdout)
    deleted = json.loads((tmp_path / "deleted.json").read_text())
    assert deleted["user"] == "alice@example.com"
    assert {record["table"] for record in deleted["records"]} >= {"identity"}
    assert json.loads((tmp_path / "alice.json").read_text())["records"] == deleted["records"]
    mpind("user", "show", "alice@example.com", code=2)
    mpind("audit", "verify")


def test_a_user_is_exported_and_deleted_by_command() -> None:
    phone = registered("frank@example.com")
    exported = json.loads(mpind("user", "export", "frank@example.com"))
    assert [record["value"]["mpinID"] for record in exported["records"] if record["table"] == "identity"] == [
        phone.id.hex()
    ]
    assert json.loads(mpind("user", "delete", "frank@example.com"))["records"] == exported["records"]
    assert "nothing is stored of frank@example.com" in mpind("user", "delete", "frank@example.com", code=2)
    with pytest.raises(Refused) as refusal:
        phone.login(PIN)
    assert refusal.value.status == 401
    mpind("audit", "verify")


def test_a_restore_brings_no_removed_token_back(tmp_path: Path) -> None:
    """A stopped server, whose state is a copy of the running one's backup."""
    state = tmp_path / "stopped"
    make_token("stays", "audit")
    make_token("goes", "audit")
    mpind("backup", str(state))
    mpind("backup", str(tmp_path / "backup"))
    # No backup has keys. That of the records' MACs is the same.
    shutil.copy(STATE / "rps.key", state)
    (state / "audit").mkdir()
    subprocess.run([str(ROOT / "build/mpind"), "keys", "new", str(state / "audit.key")], check=True)
    mpind("admin", "token", "remove", "goes", state=state)
    mpind("admin", "token", "add", "comes", "--scope=audit", state=state)

    def restored() -> set[str]:
        command = ["restore", str(tmp_path / "backup/rps.sqlite"), "--database", str(state / "rps.sqlite")]
        subprocess.run([str(ROOT / "build/mpind"), *command], check=True, capture_output=True, timeout=60)
        lines = mpind("admin", "token", "list", "--json", state=state).splitlines()
        return {json.loads(line)["name"] for line in lines if line.startswith("{")}

    names = restored()
    assert {"stays", "comes"} <= names and "goes" not in names
    for path in state.glob("rps.sqlite*"):
        path.unlink()
    assert restored() == set()
