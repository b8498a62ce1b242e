#!/usr/bin/env python3
"""Converts the comments of the C headers to manual pages and to input for doxygen.

usage: reference.py man FOLDER HEADER...     the pages of section 3, and a link for every function
       reference.py doxygen HEADER           the header with the commands of doxygen, on standard output
"""

from __future__ import annotations

import datetime
import os
import re
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

#: Matches a paragraph that begins with a label, such as "Returns: MPIN_OK".
LABEL = re.compile(r"([A-Z][a-z]+(?:,? [a-z]+){0,3}): (.*)", re.DOTALL)
FUNCTION = re.compile(r"MPIN_API (?:MPIN_CHECK )?(?P<type>.*?)\b(?P<name>mpin_\w+)\((?P<parameters>[^()]*)\);", re.DOTALL)
#: Matches the next token of a header; the alternatives are tried in this order. `other` matches text that only the
#: preprocessor and C++ need.
TOKEN = re.compile(
    r"/\* ---- (?P<section>.*?) -+ \*/|/\*\*(?P<doc>.*?)\*/|/\*(?P<note>.*?)\*/"
    r"|(?P<define>\#define (?:\\\n|[^\n])*)|(?P<other>\#[^\n]*|extern \"C\" \{|\}(?=\s*\#))"
    r"|(?P<struct>typedef struct \w+ \{.*?\n\} \w+;)|(?P<declaration>^(?:MPIN_API|typedef)\b[^;]*;)",
    re.DOTALL | re.MULTILINE,
)
#: Names that readers do not need: include guards and attributes.
HIDDEN = {"MPIN_H", "MPIN_CRYPTO_H", "MPIN_API", "MPIN_CHECK"}


@dataclass
class Item:
    """A declaration; several declarations that share a comment; or, without code, a comment about the declarations
    after it."""

    text: str
    code: str

    @property
    def functions(self) -> list[re.Match[str]]:
        return list(FUNCTION.finditer(self.code)) if self.code.startswith("MPIN_API") else []

    @property
    def names(self) -> list[str]:
        if functions := self.functions:
            return [function["name"] for function in functions]
        found = re.match(r"#define (\w+)", self.code) or re.search(r"(\w+);\Z", self.code)
        return [found[1]] if found else []


@dataclass
class Section:
    title: str
    intro: list[str] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)


@dataclass
class Header:
    name: str
    overview: str
    sections: list[Section]

    @property
    def page(self) -> str:
        return self.name.removesuffix(".h")

    def page_of(self, section: Section) -> str:
        words = re.sub(r"[,:(].*", "", section.title).lower()
        name = f"{self.page}_{re.sub('[^a-z]+', '_', words).strip('_')}"
        others = (item for other in self.sections if other is not section for item in other.items if item.functions)
        return f"{name}_functions" if any(name in item.names for item in others) else name


def uncommented(comment: str) -> str:
    """The text of a comment without its stars. The indentation of its lines stays."""
    lines = [re.sub(r"^\s*\* ?", "", line) for line in comment.split("\n")]
    return "\n".join(line.rstrip() for line in lines).strip("\n ")


def read(path: Path) -> Header:
    header = Header(path.name, "", [])
    text, doc = path.read_text(), ""
    for token in TOKEN.finditer(text):
        kind, body = token.lastgroup, (token[token.lastgroup or 0] or "").strip()
        if kind == "section":
            header.sections.append(Section(body))
        elif kind == "doc":
            doc = uncommented(body)
            if not header.overview:
                header.overview, doc = doc, ""
        elif kind == "note" and header.sections:
            section = header.sections[-1]
            if section.items:
                section.items.append(Item(uncommented(body), ""))
            else:
                section.intro.append(uncommented(body))
        elif kind in ("define", "struct", "declaration") and header.sections and not hidden(body):
            items = header.sections[-1].items
            # A declaration directly after another one, without a comment of its own, shares the other's comment.
            if not doc and items and items[-1].code and kind == "declaration" and text[: token.start()].endswith(";\n"):
                items[-1].code += "\n" + body
            else:
                items.append(Item(doc, body))
            doc = ""
    return header


def hidden(code: str) -> bool:
    found = re.match(r"#define (\w+)", code)
    return bool(found and found[1] in HIDDEN)


def paragraphs(text: str) -> list[str]:
    """Returns the paragraphs. A line that begins with a label starts a paragraph; the indented lines after it belong to
    it."""
    found: list[str] = []
    for block in text.split("\n\n"):
        lines = block.split("\n")
        if block.startswith("    "):
            found.append(block)
            continue
        found.append(lines[0])
        for line in lines[1:]:
            if LABEL.match(line):
                found.append(line)
            else:
                found[-1] += "\n" + line.strip()
    return found


# ---- Manual pages ------------------------------------------------------------------------------------------------


def roff(text: str) -> str:
    """Returns the text for roff, escaped so that no line of it is a command."""
    escaped = text.replace("\\", "\\e")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in escaped.split("\n"))


def sentences(text: str) -> str:
    """Returns the text with one sentence on each line, as mdoc requires."""
    return roff(re.sub(r"(?<=[.!?]) (?=\S)", "\n", " ".join(text.split())))


def body(text: str) -> list[str]:
    lines: list[str] = []
    if not text:
        return lines
    for index, paragraph in enumerate(paragraphs(text)):
        label = LABEL.fullmatch(paragraph)
        if paragraph.startswith("    "):
            lines += [".Bd -literal -offset indent", roff(textwrap.dedent(paragraph)), ".Ed"]
            continue
        if index:
            lines.append(".Pp")
        if label:
            lines += [f".Sy \\&{label[1]} :", sentences(label[2])]
        else:
            lines.append(sentences(paragraph))
    return lines


def page_head(name: str, names: list[str], purpose: str) -> list[str]:
    changed = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    heads = [f".Nm {each} ," for each in names[:-1]] + [f".Nm {names[-1]}"]
    return [
        f".Dd {changed:%B} {changed.day}, {changed.year}",
        f".Dt {name.upper()} 3",
        ".Os libmpin",
        ".Sh NAME",
        *heads,
        f".Nd {roff(purpose)}",
    ]


def synopsis(item: Item) -> list[str]:
    lines: list[str] = []
    for function in item.functions:
        parameters = [" ".join(one.split()) for one in function["parameters"].split(",")]
        lines += [f".Ft {' '.join(function['type'].split())}", f".Fo {function['name']}"]
        lines += [f'.Fa "{one}"' for one in parameters]
        lines.append(".Fc")
    return lines


def described(item: Item) -> list[str]:
    if item.functions:
        return [f".It {' , '.join(f'Fn {name}' for name in item.names)}", *body(item.text)]
    if item.code.startswith("#define"):
        name, _, value = item.code.removeprefix("#define ").partition(" ")
        return [f".It Dv {name} No {roff(' '.join(value.split()))}", *body(item.text)]
    return [
        f".It Vt {item.names[0]}",
        *body(item.text),
        ".Bd -literal",
        roff(item.code),
        ".Ed",
    ]


def see_also(pages: list[str]) -> list[str]:
    return [".Sh SEE ALSO", *[f".Xr {page} 3 ," for page in pages[:-1]], f".Xr {pages[-1]} 3"]


def section_page(header: Header, section: Section, pages: list[str]) -> str:
    name = header.page_of(section)
    functions = [item for item in section.items if item.functions]
    names = [each for item in functions for each in item.names] or [name]
    lines = page_head(name, names, f"{section.title[0].lower() + section.title[1:]} of libmpin")
    lines += [".Sh SYNOPSIS", f".In {header.name}"]
    for item in functions:
        lines += synopsis(item)
    lines.append(".Sh DESCRIPTION")
    for index, intro in enumerate(section.intro):
        lines += [*([".Pp"] if index else []), *body(intro)]
    is_list = False
    for item in section.items:
        if is_list != bool(item.code):
            lines.append(".Bl -tag -width Ds" if item.code else ".El")
            is_list = bool(item.code)
        lines += described(item) if item.code else body(item.text)
    if is_list:
        lines.append(".El")
    lines += see_also(sorted({"mpin", "mpin_crypto", *pages} - {name}))
    return "\n".join(lines) + "\n"


def overview_page(header: Header) -> str:
    first, *rules = paragraphs(header.overview)
    title = first.partition(": ")[2].rstrip(".")
    lines = page_head(header.page, [header.page], title.split("\n")[0].rstrip("."))
    lines += [".Sh SYNOPSIS", f".In {header.name}", ".Pp", "Programs link with", "pkg-config --cflags --libs mpin."]
    lines += [".Sh DESCRIPTION", *body("\n\n".join([first, *rules]))]
    lines += [".Sh PAGES", ".Bl -tag -width Ds"]
    for section in header.sections:
        lines += [f".It Xr {header.page_of(section)} 3", roff(section.title)]
    lines.append(".El")
    others = [f"{header.page_of(section)}" for section in header.sections]
    lines += see_also(sorted([*others, "mpin_crypto" if header.page == "mpin" else "mpin"]))
    return "\n".join(lines) + "\n"


def write_man(folder: Path, headers: list[Header]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.3"):
        old.unlink()
    for header in headers:
        pages = [header.page_of(section) for section in header.sections]
        (folder / f"{header.page}.3").write_text(overview_page(header))
        for section, page in zip(header.sections, pages):
            (folder / f"{page}.3").write_text(section_page(header, section, pages))
            functions = {name for item in section.items if item.functions for name in item.names}
            for name in functions - {*pages, header.page}:
                (folder / f"{name}.3").symlink_to(f"{page}.3")


# ---- Doxygen -----------------------------------------------------------------------------------------------------


def marked(text: str) -> str:
    """Returns the text of a comment, with labels replaced by commands of doxygen."""
    lines: list[str] = []
    for paragraph in paragraphs(text):
        label = None if paragraph.startswith("    ") else LABEL.fullmatch(paragraph)
        lines += [f"@par {label[1]}", label[2]] if label else [paragraph]
        lines.append("")
    return "\n".join(lines).rstrip()


def comment(text: str) -> str:
    return "/**\n" + "\n".join(f" * {line}".rstrip() for line in text.split("\n")) + "\n */"


def doxygen(header: Header) -> str:
    parts = [comment(f"@file\n{'@mainpage libmpin' if header.page == 'mpin' else ''}\n{marked(header.overview)}")]
    for section in header.sections:
        notes = [*section.intro, *[item.text for item in section.items if not item.code]]
        intro = "\n\n".join(marked(each) for each in notes)
        parts.append(comment(f"@defgroup {header.page_of(section)} {section.title}\n{intro}\n@{{"))
        for item in [item for item in section.items if item.code]:
            for code in re.findall(r"MPIN_API.*?;", item.code, re.DOTALL) if item.functions else [item.code]:
                if item.text:
                    parts.append(comment(marked(item.text)))
                parts.append(re.sub(r"\b(MPIN_API|MPIN_CHECK) ", "", code))
        parts.append("/** @} */")
    return "\n".join(parts) + "\n"


def main() -> int:
    match sys.argv[1:]:
        case ["man", folder, *headers] if headers:
            write_man(Path(folder), [read(Path(header)) for header in headers])
        case ["doxygen", header]:
            sys.stdout.write(doxygen(read(Path(header))))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
