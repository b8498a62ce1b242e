#!/usr/bin/python3
"""Writes the statuses of include/mpin.h and mpin_crypto.h into the lists of other languages; --check only compares them.

Each list is a part of its file, between two given texts.
"""

import re
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
NOTE = "Written by Sources/Packaging/statuses.py."

#: What the comments of the headers say of C, in Python and in Swift.
PHRASES = {
    "the sdk is not initialised, ": ("", ""),
    "ask mpin_user_get_state()": ("see User.state", "see ``User/state``"),
    ' (see "Network" above)': ("", ""),
    "handle is NULL, was freed, or is of another kind": ("object is closed", ""),
    "NULL or malformed": ("malformed", "malformed"),
    "; the length argument has the right size": ("", ""),
    "call was ended by mpin_sdk_cancel()": ("call was ended by cancel()", "task was cancelled"),
    "mpin_error.retry_after": ("retry_after", "``MPinError/retryAfter``"),
    "retry_at of mpin_trust_error": ("retry_at", "``MPinError/retryAt``"),
    "The handle was made": ("The object was made", ""),
    ': see "Processes" above': ("", ""),
    "argument is NULL": ("argument is missing", ""),
    "handle is not that of a server context, or the context was freed": ("server context is closed", ""),
}

#: Other bases of Python's exceptions.
VALUE_ERRORS = (
    "UNTRUSTED_DOMAIN_ERROR INVALID_HANDLE INVALID_ARGUMENT BUFFER_TOO_SMALL PIN_INVALID WRONG_PARAMETER INVALID_POINT "
    "WRONG_ORDER"
).split()
BASES = {"TIMED_OUT": "MPinError, TimeoutError", **dict.fromkeys(VALUE_ERRORS, "MPinError, ValueError")}


class Status(NamedTuple):
    """A status, its name without prefix, and the comment of its header in one line."""

    prefix: str
    name: str
    number: int
    comment: str

    @property
    def swift(self) -> str:
        first, *rest = self.name.split("_")
        return first.lower() + "".join(word if word in ("PIN", "TTL") else word.title() for word in rest)

    @property
    def swift_comment(self) -> str:
        return "".join(f"        /// {line}\n" for line in textwrap.wrap(self.said(1), 108))

    @property
    def python(self) -> str:
        words = [word if word in ("HTTP", "TTL") else word.title() for word in self.name.split("_")]
        return ("Crypto" if self.is_special else "") + "".join(words).removesuffix("Error") + "Error"

    @property
    def python_class(self) -> str:
        bases = self.python.removeprefix("Crypto") if self.is_special else BASES.get(self.name, "MPinError")
        text = textwrap.fill(f'"""{self.said(0)}"""', 120, initial_indent="    ", subsequent_indent="    ")
        return f'class {self.python}({bases}, code={self.number}, status="{self.name}"):\n{text}\n\n\n'

    @property
    def is_special(self) -> bool:
        """Whether mpin_crypto.h has the status, and mpin.h one of the same name."""
        return self.prefix != "MPIN_" and self.name in [status.name for status in ALL]

    def said(self, language: int) -> str:
        comment = self.comment
        for phrase, others in PHRASES.items():
            comment = comment.replace(phrase, others[language])
        return comment


def statuses(header: str, prefix: str) -> "list[Status]":
    """Those up to the line after the statuses: MPIN_OK is the first, and no other number is between them."""
    text = (ROOT / "include" / header).read_text()
    section = re.split(r"/\* ---- Sizes|^MPIN_API .*mpin_status_name", text[text.index(f"#define {prefix}OK 0") :], 0, re.M)[0]
    definition = rf"(?:/\*\* ((?:(?!\*/).)*) \*/\n)?^#define {prefix}(\w+) \(?(-?\d+)\)?$"
    found = re.findall(definition, section, re.DOTALL | re.MULTILINE)
    return [Status(prefix, name, int(number), re.sub(r"\s+\* ", " ", text)) for text, name, number in found]


ALL = statuses("mpin.h", "MPIN_")
CRYPTO = statuses("mpin_crypto.h", "MPIN_CRYPTO_")
ERRORS = ALL[1:] + CRYPTO[1:]
VERSION = re.search(r'^#define MPIN_VERSION "(.*)"$', (ROOT / "include/mpin.h").read_text(), re.MULTILINE)[1]
# What Swift never throws is about handles and buffers of C. Objective-C has no sessions.
SWIFT = [status for status in ERRORS if status.number > 0 and status.number not in (32, 34, 75)]
OBJC = [status for status in ALL if not 64 <= status.number <= 74]


def each(form: str, listed: "list[Status]" = ALL) -> str:
    return "".join(form.format(status) for status in listed)


def filled(form: str, listed: "list[Status]" = ALL, indent: str = "  ") -> str:
    """As few lines as it takes."""
    words = " ".join(form.format(status).replace(" ", "\0") for status in listed)
    return (textwrap.fill(words, 120, initial_indent=indent, subsequent_indent=indent) + "\n").replace("\0", " ")


def parts() -> "list[tuple[str, str, str, str]]":
    """The file of each list, the texts before and after it, and the list."""
    python, js = "bindings/python/mpin/_errors.py", "bindings/js/"
    return [
        ("Sources/MPinSDK/Status.swift", f"// {NOTE}\n", "\n    ///", each("    case {0.swift} = {0.number}\n")),
        (
            "Sources/MPin/MPinError.swift", f"// {NOTE}\n", "    }",
            each("{0.swift_comment}        case {0.swift} = {0.number}\n", SWIFT),
        ),
        (python, f"# {NOTE}\n__all__ += [\n", "]", filled('"{0.python}",', ERRORS, "    ")),
        (python, f"# {NOTE}\n\n\n", "def error_for", each("{0.python_class}", ERRORS)),
        ("bindings/objc/MpinStatus.h", f"/* {NOTE} */\n", "};", each("    {0.name} = {0.number},\n", OBJC)),
        (
            "include/cxx/mpin_sdk.h", f"/* {NOTE} */\n", "            PIN_INPUT_CANCELLED",
            each("            {0.name} = MPIN_{0.name},\n"),
        ),
        (js + "status.js", "VERSION = ", ";", f'"{VERSION}"'),
        (js + "status.js", "Status = Object.freeze({\n", "}", filled("{0.name}: {0.number},")),
        (js + "status.d.ts", "Status: {\n", "}", filled("readonly {0.name}: {0.number};")),
        (js + "crypto.js", "CryptoCode = Object.freeze({\n", "}", filled("{0.name}: {0.number},", CRYPTO)),
        (js + "crypto.d.ts", "CryptoCode: {\n", "}", filled("readonly {0.name}: {0.number};", CRYPTO)),
    ]  # fmt: skip


def main() -> int:
    checks = sys.argv[1:] == ["--check"]
    result = 0
    for name, before, after, part in parts():
        text = (ROOT / name).read_text()
        start = text.index(before) + len(before)
        new = text[:start] + part + text[text.index(after, start) :]
        if new != text and checks:
            print(f"{name} is not what the headers say: run Sources/Packaging/statuses.py", file=sys.stderr)
            result = 1
        elif new != text:
            (ROOT / name).write_text(new)
    return result


if __name__ == "__main__":
    sys.exit(main())
