#!/usr/bin/env python3
"""Writes the bill of materials of the library and the programs, CycloneDX 1.6 JSON, to standard output.

    sbom.py VERSION BINARY...

The components are the Swift packages in Package.resolved, the Swift standard library, and the Debian packages whose
libraries the binaries link or load. The result is reproducible: the serial number is computed from the content, and the
time is that of SOURCE_DATE_EPOCH.
"""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

Component = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def swift_packages() -> list[Component]:
    """The packages in Package.resolved, with their versions."""
    pins = json.loads((ROOT / "Package.resolved").read_text())["pins"]
    found = []
    for pin in pins:
        name = pin["location"].removesuffix(".git").removeprefix("https://")
        version = pin["state"]["version"]
        purl = f"pkg:swift/{name}@{version}"
        found.append({"type": "library", "name": name.split("/", 1)[1], "version": version, "purl": purl})
    return found


def swift_runtime() -> Component:
    match = re.search(r"Swift version (\S+)", run("swift", "--version"))
    version = match[1] if match else "unknown"
    return {
        "type": "library",
        "name": "swift-standard-library",
        "version": version,
        "purl": f"pkg:github/swiftlang/swift@swift-{version}-RELEASE",
        "licenses": [{"license": {"id": "Apache-2.0"}}],
    }


def debian_packages(binaries: list[str]) -> list[Component]:
    """The packages of the shared libraries that `binaries` need, and of libcurl and cjose, which they load."""
    loaded = r"(?:libcurl\.so\.4|libcjose\.so\.0) .*=> (\S+)"
    names = {owner(path) for path in re.findall(loaded, run("/sbin/ldconfig", "-p"))}
    for binary in binaries:
        needed = re.findall(r"NEEDED.*\[(.+)\]", run("readelf", "-dW", binary))
        for line in run("ldd", binary).splitlines():
            match = re.match(r"\s*(\S+) => (/\S+)", line)
            if match and match[1] in needed and not match[2].startswith(("/opt", str(ROOT))):
                names.add(owner(match[2]))
    found = []
    for name in sorted(names):
        version = run("dpkg-query", "-W", "-f", "${Version}", name)
        purl = f"pkg:deb/debian/{name.split(':')[0]}@{version.replace('+', '%2B')}"
        found.append({"type": "library", "name": name.split(":")[0], "version": version, "purl": purl})
    return found


def owner(path: str) -> str:
    for candidate in (path, os.path.realpath(path), path.removeprefix("/usr"), "/usr" + path):
        result = subprocess.run(["dpkg-query", "-S", candidate], capture_output=True, text=True)
        if result.returncode == 0:
            return result.stdout.rsplit(":", 1)[0].split(",")[0]
    sys.exit(f"sbom: {path} belongs to no package")


def main() -> None:
    version, binaries = sys.argv[1], sys.argv[2:]
    components = [swift_runtime(), *swift_packages(), *debian_packages(binaries)]
    for component in components:
        component["bom-ref"] = component["purl"]
    root = {
        "type": "library",
        "name": "libmpin",
        "version": version,
        "bom-ref": "libmpin",
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(Path(b).read_bytes()).hexdigest()} for b in binaries[:1]],
    }
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    bom: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).isoformat(),
            "component": root,
        },
        "components": components,
        "dependencies": [{"ref": "libmpin", "dependsOn": sorted(c["bom-ref"] for c in components)}],
    }
    digest = hashlib.sha256(json.dumps(bom, sort_keys=True).encode()).digest()
    bom["serialNumber"] = f"urn:uuid:{uuid.UUID(bytes=digest[:16], version=4)}"
    json.dump(bom, sys.stdout, indent=2)
    print()


main()
