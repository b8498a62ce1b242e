#!/usr/bin/env python3
"""Writes tables of mpin.h for the C tests, so that they miss no function and no parameter.

    functions.py HEADER table     the functions with their parameters, each behind the same signature
    functions.py HEADER called    macros that note which functions are called
"""

import os
import re
import subprocess
import sys

# Structures that are handles, with their kinds. Other structures are outputs, except for configurations.
HANDLES = {"mpin_sdk": "SDK", "mpin_user": "USER", "mpin_session": "SESSION", "mpin_http_response": "RESPONSE",
           "mpin_storage_data": "DATA"}
TYPES = {"char *": "BUFFER", "const char *": "TEXT", "size_t *": "COUNT", "size_t": "LENGTH", "int32_t *": "NUMBER",
         "uint8_t *": "OCTETS", "const uint8_t *": "BYTES", "int32_t": "INTEGER", "int64_t": "INTEGER",
         "int64_t *": "NUMBER", "mpin_status": "INTEGER", "const mpin_config *": "CONFIG",
         "const mpin_session_config *": "CONFIG", "const mpin_provider *": "CONFIG"}
SECRETS = ("pin", "old_pin", "new_pin", "factor")


def declarations(header: str) -> "list[tuple[str, str, list[tuple[str, str]]]]":
    """Returns the result type, the name and the parameters (kind, name) of each function, in the order of the
    header."""
    compiler = os.environ.get("CC", "cc")
    command = [compiler, "-E", "-P", "-DMPIN_NO_ATTRIBUTES", header]
    text = " ".join(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    text = re.sub(r"typedef struct \w+ \{.*?\} \w+;", "", text)
    found = re.findall(r"([\w ]+?[ *]+)\b(mpin_\w+)\(([^()]*)\);", text)
    return [(result.strip(), name, [parameter(p) for p in parameters.split(",") if p.strip() != "void"])
            for result, name, parameters in found]


def parameter(text: str) -> "tuple[str, str]":
    match = re.fullmatch(r"\s*(.*?)(\w+)(\[\d+\])?\s*", text)
    assert match, text
    kind, name = match[1].strip() + (" *" if match[3] else ""), match[2]
    if name in SECRETS:
        return "SECRET", name
    if kind in TYPES:
        return TYPES[kind], name
    structure, stars = re.fullmatch(r"(\w+) (\*+)", kind).groups()  # type: ignore[union-attr]
    if stars == "**":
        return "MADE", name
    return HANDLES.get(structure, "STRUCTURE"), name


def argument(index: int, kind: str) -> str:
    return f"v[{index}]." + {"LENGTH": "size", "INTEGER": "number"}.get(kind, "pointer")


def table(functions: "list[tuple[str, str, list[tuple[str, str]]]]") -> None:
    for result, name, parameters in functions:
        arguments = ", ".join(cast(index, kind, text) for index, (kind, text) in enumerate(parameters))
        body = {"void": f"{name}({arguments});\n    return MPIN_OK;",
                "const char *": f"return {name}({arguments}) ? MPIN_OK : -1;"}
        use = "" if parameters else "    (void)v;\n"
        print(f"static mpin_status call_{name}(const union value *v)\n{{")
        print(f"{use}    {body.get(result, f'return {name}({arguments});')}\n}}\n")
    print("static const struct function functions[] = {")
    for _, name, parameters in functions:
        rows = ", ".join(f'{{{kind}, "{text}"}}' for kind, text in parameters) or '{0, ""}'
        print(f'    {{"{name}", call_{name}, {len(parameters)}, {{{rows}}}}},')
    print("};")


def cast(index: int, kind: str, name: str) -> str:
    return ("" if kind != "INTEGER" or name == "epoch_time" else "(int32_t)") + argument(index, kind)


def called(functions: "list[tuple[str, str, list[tuple[str, str]]]]") -> None:
    print("static const char *const function_names[] = {")
    for _, name, _ in functions:
        print(f'    "{name}",')
    print(f"}};\nstatic int was_called[{len(functions)}];")
    for index, (_, name, _) in enumerate(functions):
        print(f"#define {name}(...) (was_called[{index}] = 1, {name}(__VA_ARGS__))")


if __name__ == "__main__":
    {"table": table, "called": called}[sys.argv[2]](declarations(sys.argv[1]))
