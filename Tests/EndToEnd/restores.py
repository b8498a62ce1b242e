"""A database and the D-TAs' shares that are restored on another machine, as docs/postgres.md says."""

from __future__ import annotations

import datetime
import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from node import PIN, PROGRAM, Server
from phone import Phone, Refused
from roaming import Roaming, registered
from two_nodes import refusal

#: What the audit logs call what a restored database has forgotten, and `mpind user revoke` repeats.
FORGOTTEN = {"blocked", "revoked"}


def restored(folder: Path, nodes: list[Server], url: str, logs: list[Path], audit: Sequence[str]) -> str:
    """Dumps the database and backs the D-TAs up; then somebody is blocked, somebody revoked, and somebody registers. Restores
    both, the shares apart, and repeats from the audit logs what happened since. logs: those of the nodes. audit: the options
    for the audit log of a command."""
    people = {name: registered(nodes, f"{name}@example.com") for name in ("dumped", "nearly", "blocked", "revoked")}
    for _ in range(2):
        assert refusal(people["nearly"], "4321") == 401
    token = people["dumped"].pass2(people["dumped"].pass2_body(people["dumped"].pass1(PIN)))
    begun = datetime.datetime.now(datetime.UTC)
    backup = dumped(folder, nodes[0].state, url, audit)
    assert [refusal(people["blocked"], "4321") for _ in range(3)] == [401, 401, 410]
    mpind("user", "revoke", people["revoked"].user, *nodes[0].service(url), *audit)
    people["late"] = registered(nodes, "late@example.com")
    other = url.replace("///mpin?", "///restored?")
    state = moved_in(folder, nodes[0].state, url, other, backup, audit)
    since = list(happened(logs, begun))
    for user in since:
        mpind("user", "revoke", user, *nodes[0].service(other))
    node = Server(folder / "restored", state=str(state), options=["--database", other, "--short-lived-store", other])
    try:
        node.start()
        here = {name: Roaming([node], phone.user, like=phone) for name, phone in people.items()}
        assert {people["blocked"].user, people["revoked"].user} <= set(since), since
        is_as_dumped(here, token)
        new = registered([node], "new@example.com")
        new.login(PIN)
    finally:
        node.kill()
    return f"registrations and wrong PINs are in a dump, tokens are not; {len(since)} blocks and revocations repeated"


def dumped(folder: Path, state: str, url: str, audit: Sequence[str]) -> Path:
    """Dumps the database, and copies the D-TAs' databases. Returns the folder with these."""
    backup = folder / "of-the-authorities"
    dumping = ["pg_dump", "--format=custom", "--no-unlogged-table-data", f"--file={folder}/mpin.dump", f"--dbname={psql(url)}"]
    subprocess.run(dumping, check=True)
    mpind("backup", str(backup), "--config", str(configured(folder / "before.yaml", state, url)), *audit)
    assert sorted(file.name for file in backup.iterdir()) == ["dta1.sqlite", "dta2.sqlite"]
    return backup


def configured(file: Path, state: Path | str, url: str) -> Path:
    file.write_text(f'state-dir: "{state}"\ndatabase: "{url}"\n')
    return file


def moved_in(folder: Path, state: str, url: str, other: str, backup: Path, audit: Sequence[str]) -> Path:
    """Restores the dump as another database, and the D-TAs beside the key files, in a new state folder. Returns that."""
    subprocess.run(["createdb", f"--maintenance-db={psql(url)}", "restored"], check=True)
    subprocess.run(["pg_restore", "--exit-on-error", f"--dbname={psql(other)}", f"{folder}/mpin.dump"], check=True)
    place = folder / "restored-state"
    place.mkdir(0o700)
    for key in Path(state).glob("*.key"):
        shutil.copy2(key, place)
    mpind("restore", str(backup), "--config", str(configured(folder / "after.yaml", place, other)), *audit)
    return place


def happened(logs: list[Path], since: datetime.datetime) -> Iterator[str]:
    """The users whom servers or operators have blocked or revoked since then."""
    for log in logs:
        for line in map(json.loads, log.read_text().splitlines()):
            if line["event"] in FORGOTTEN and datetime.datetime.fromisoformat(line["time"]) >= since:
                yield line["user"]


def is_as_dumped(people: dict[str, Roaming], token: dict[str, object]) -> None:
    people["dumped"].login(PIN)
    assert not is_redeemed(people["dumped"], token), "a token came back with the dump"
    found = {name: refusal(people[name], PIN) for name in ("blocked", "revoked")}
    assert found == {"blocked": 410, "revoked": 410}, found
    assert refusal(people["nearly"], "4321") == 410, "wrong PINs are not in the dump"
    assert refusal(people["late"], PIN) == 401


def is_redeemed(phone: Phone, token: dict[str, object]) -> bool:
    try:
        phone.authenticate(token)
        return True
    except Refused as refused:
        assert refused.status == 408, refused
        return False


def psql(url: str) -> str:
    return url.replace("postgres:", "postgresql:")


def mpind(*words: str) -> None:
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
