"""The secrets that a server must not write, and a search for them in all that it writes: logs, audit log, metrics.

As a program: `redaction.py FOLDER` takes the secrets from the files of a test's folder (keys, mails, cookies, pages)
and searches its logs. It prints what it has found, and its exit code is then 1.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

WORD = re.compile(r"[0-9A-Za-z@._%+-]+")
#: Tokens, keys, shares, points, signatures, cookies and M-Pin IDs are long hex numbers.
HEX = re.compile(r"[0-9A-Fa-f]{32,}")
#: Access numbers and one-time digits. They are found by the names of their members, because they are too short to be
#: recognised as hex.
SHORT = re.compile(r'"(?:OTP|accessNumber)"\s*:\s*"([0-9]{6,7})"')
QUERY = re.compile(r"[?&](?:regOTT|signature|hash_mpin_id|mpin_id|[ies])=")


class Secrets:
    """The secrets of a test: hex numbers, user ids and digits that were sent or received, and secrets that were not
    sent."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self._users: set[str] = set()
        self._hashes: set[str] = set()

    def saw(self, *texts: str) -> None:
        for text in texts:
            for word in WORD.findall(text):
                if HEX.fullmatch(word):
                    self._words.add(word.lower())
                    self._note_identity(word)
                elif "@" in word:
                    self._users.add(word)
            self._words.update(SHORT.findall(text))

    def hid(self, *secrets: str) -> None:
        """Adds secrets that were never sent: PINs, tokens, keys."""
        self._words.update(secret.lower() for secret in secrets)

    def _note_identity(self, word: str) -> None:
        """Adds the hash of an M-Pin ID to the hashes that the audit log may contain, where they name devices."""
        if word.lower().startswith("7b22") and len(word) % 2 == 0:
            self._hashes.add(hashlib.sha256(bytes.fromhex(word)).hexdigest())

    def in_log(self, text: str) -> list[str]:
        """Checks a log of JSON lines. It must contain neither secrets nor users nor queries."""
        found = self._found(_values(text), self._words | self._users)
        return found + [f"query {match[0]}" for match in QUERY.finditer(text)]

    def in_audit(self, text: str) -> list[str]:
        """Checks an audit log, which may name users and identities."""
        return self._found(_values(text), self._words - self._hashes)

    def in_metrics(self, text: str) -> list[str]:
        """Checks metrics. The value at the end of each line is left out, because it may be any number."""
        return self._found((line.rpartition(" ")[0] for line in text.splitlines()), self._words | self._users)

    def _found(self, texts: Iterable[str], secrets: set[str]) -> list[str]:
        words = {word for text in texts for word in WORD.findall(text)}
        return sorted(word for word in words if word.lower() in secrets or word in secrets)

    def __len__(self) -> int:
        return len(self._words)


def _values(text: str) -> Iterator[str]:
    """Yields the texts of each JSON line. Numbers are left out, because they are milliseconds and counts."""
    for line in text.splitlines():
        try:
            yield from _texts(json.loads(line))
        except ValueError:
            yield line


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            if name not in ("ms", "count", "n", "mac"):
                yield from (name, *_texts(member))
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
    elif isinstance(value, str):
        yield value


def main(folder: pathlib.Path) -> int:
    secrets = Secrets()
    logs = list(folder.rglob("mpind.log"))
    audits = list(folder.rglob("audit*.jsonl*"))
    for path in folder.rglob("*"):
        if path.is_file() and path not in logs + audits and ".sqlite" not in path.name:
            secrets.saw(path.read_bytes().decode("latin-1"))
    found = [f"{path.name}: {word}" for path in logs for word in secrets.in_log(path.read_text())]
    found += [f"{path.name}: {word}" for path in audits for word in secrets.in_audit(path.read_text())]
    for line in found:
        print(f"a secret stands in {line}", file=sys.stderr)
    return 1 if found or not logs else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
