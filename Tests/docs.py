#!/usr/bin/env python3
"""Checks that every section that a source cites exists in docs/, and that every relative link in a Markdown file
works."""

from __future__ import annotations

import re
import sys
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["Sources", "Tests", "include", "bindings", "docs"]
KINDS = {".swift", ".h", ".c", ".cpp", ".py", ".sh", ".rb", ".java", ".js", ".ts", ".mjs", ".md", ".yaml", ".1", ".3", ".8"}
# Files of other projects, which are not checked.
FOREIGN = ["Tests/Vectors/transcripts"]

DOCUMENTS = {"wire": "docs/milagro-wire.md", "TRUST wire": "docs/trust-wire.md", "curve": "docs/curve.md"}
NUMBER = r"\d+(?:\.\d+)*"
CITATION = re.compile(rf"\b(TRUST wire|wire|curve) sections? ({NUMBER}(?:(?:, | and |, and ){NUMBER})*)", re.IGNORECASE)
DEFECT = re.compile(r"\bwire section 17, defects? (\d+)", re.IGNORECASE)
LINK = re.compile(r"(?:\[[^\]]*\]\(|<img src=\")([^)\s\"]+)[)\"]")


def files() -> list[Path]:
    found = [path for path in ROOT.iterdir() if path.suffix == ".md"]
    for folder in FOLDERS:
        found += [path for path in (ROOT / folder).rglob("*") if path.suffix in KINDS and path.is_file()]
    return sorted(path for path in found if not any(str(path.relative_to(ROOT)).startswith(name) for name in FOREIGN))


def flowing(text: str) -> str:
    """Returns the text with its lines joined, because a citation may continue on the next line of a comment."""
    return re.sub(r"\s*\n[ \t]*(?:///?|#|\*|//!)?[ \t]*", " ", text)


def text_of(path: Path) -> str:
    """Returns the text of a file; empty if the file does not exist."""
    return path.read_text(errors="replace") if path.is_file() else ""


def sections(document: str) -> set[str]:
    return set(re.findall(rf"^#+ ({NUMBER})\.? ", text_of(ROOT / document), re.MULTILINE))


def defects() -> set[str]:
    text = text_of(ROOT / DOCUMENTS["wire"]).partition("\n## 17.")[2].partition("\n## 18.")[0]
    return set(re.findall(r"^(\d+)\. ", text, re.MULTILINE))


def anchors(text: str) -> set[str]:
    """Returns the anchors that GitHub makes from the headings."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def wrong_citations(path: Path, there: dict[str, set[str]]) -> tuple[int, list[str]]:
    text = flowing(text_of(path))
    cited = [(kind, number) for kind, list_ in CITATION.findall(text) for number in re.findall(NUMBER, list_)]
    known = {kind.lower(): numbers for kind, numbers in there.items()}
    wrong = [f"{kind} section {number}" for kind, number in cited if number not in known[kind.lower()]]
    wrong += [f"wire section 17, defect {number}" for number in DEFECT.findall(text) if number not in there["defect"]]
    return len(cited), [f"{path.relative_to(ROOT)}: there is no {name}" for name in wrong]


def wrong_links(path: Path) -> tuple[int, list[str]]:
    links = [link for link in LINK.findall(path.read_text()) if not re.match(r"[a-z]+:", link)]
    wrong = []
    for link in links:
        name, _, anchor = link.partition("#")
        target = path.parent / urllib.parse.unquote(name) if name else path
        if not target.resolve().is_relative_to(ROOT) or not target.exists():
            wrong.append(f"{path.relative_to(ROOT)}: {link} leads nowhere")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
            wrong.append(f"{path.relative_to(ROOT)}: {link}: no such heading")
    return len(links), wrong


def main() -> int:
    there = {kind: sections(document) for kind, document in DOCUMENTS.items()} | {"defect": defects()}
    citations = [wrong_citations(path, there) for path in files()]
    links = [wrong_links(path) for path in files() if path.suffix == ".md"]
    wrong = [text for _, texts in citations + links for text in texts]
    print("".join(f"docs: error: {text}\n" for text in wrong), end="")
    counts = f"{sum(count for count, _ in citations)} citations and {sum(count for count, _ in links)} links"
    if wrong:
        print(f"{len(wrong)} of {counts} lead nowhere")
        return 1
    print(f"{counts} lead somewhere: 2 passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
