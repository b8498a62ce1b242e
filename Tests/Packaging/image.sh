#!/usr/bin/env bash
# Tests the OCI image (image.sh): what is in it, and logins at a server that runs in it, as another user and with a
# file system that it cannot write. bubblewrap stands for a container engine.
# usage: image.sh VERSION [--short]: with --short only what is in it
set -euo pipefail
version=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=Tests/ok.sh
. "$root/Tests/ok.sh"
work=$(mktemp -d)
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT
rootless=()
[ "$(id -u)" -eq 0 ] || rootless=(--rootless)
umoci unpack "${rootless[@]}" --image "$root/build/image:$version" "$work/bundle" >/dev/null
tree=$work/bundle/rootfs

python3 - "$root/build/image" <<'PY'
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
def blob(about): return json.loads((folder / "blobs" / about["digest"].replace(":", "/")).read_text())
manifest = blob(json.loads((folder / "index.json").read_text())["manifests"][0])
config = blob(manifest["config"])["config"]
assert config["User"] == "10001:10001" and config["Entrypoint"] == ["/usr/bin/mpind"], config
assert list(config["Volumes"]) == [config["WorkingDir"]] == ["/var/lib/mpind"], config
PY
ok "it runs mpind as a user without rights"
found=$(find "$tree" -type f '(' -perm /6000 -o -name sh -o -name bash -o -name dpkg -o -name 'apt*' ')')
[ -z "$found" ] || { echo "$found" && exit 1; }
[ "$(grep -c 'BEGIN CERT' "$tree/etc/ssl/certs/ca-certificates.crt")" -gt 100 ]
ok "no shell, no package manager, no setuid program; the authorities' certificates are there"
[ "${2:-}" != --short ] || { echo "$passed passed" && exit; }

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:?} VERSION=$version IMAGE=$work/again "$root/Sources/Packaging/image.sh" >/dev/null
cmp "$root/build/image/index.json" "$work/again/index.json"
ok "made again, it is the same"

python3 -B - "$root" "$tree" "$version" "$work/state" <<'PY'
import subprocess, sys
from pathlib import Path
root, tree, version, state = Path(sys.argv[1]), *sys.argv[2:]
sys.path.insert(0, str(root / "Tests/EndToEnd"))
from node import LOST, PIN
from phone import Phone, wait_until
from ports import free_ports

Path(state).mkdir()
ARGUMENTS = [
    "bwrap", "--unshare-user", "--uid", "10001", "--gid", "10001", "--unshare-pid", "--die-with-parent", "--clearenv",
    "--ro-bind", tree, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", state, "/var/lib/mpind",
    "--chdir", "/var/lib/mpind", "/usr/bin/mpind",
]  # fmt: skip

def mpind(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ARGUMENTS, *words], capture_output=True, text=True, check=False)

def is_up(backend: str) -> bool:
    assert server.poll() is None, "mpind has ended"
    try:
        Phone(backend, "")
        return True
    except LOST:
        return False

assert mpind("--version").stdout.strip() == version
said = mpind("user", "list", "--database", "postgres:///mpin?host=/nowhere").stderr
assert "/nowhere" in said, said
port, admin, *others = free_ports(5)
options = [word for pair in zip(["--private-port", "--dta1-port", "--dta2-port"], map(str, others)) for word in pair]
options += ["--port", str(port), "--admin-listen", f"127.0.0.1:{admin}", "--force-activate", "--log-level", "error"]
server = subprocess.Popen([*ARGUMENTS, "--all-in-one", "--state-dir", "state", *options], stderr=subprocess.DEVNULL)
try:
    backend = f"http://127.0.0.1:{port}"
    wait_until(lambda: is_up(backend))
    phone = Phone(backend, "image@example.com")
    phone.start_registration()
    phone.finish_registration(PIN)
    phone.login(PIN)
    asked = mpind("health", "--admin-listen", f"127.0.0.1:{admin}")
    assert asked.returncode == 0 and '"UP"' in asked.stdout, asked
finally:
    server.kill()
    server.wait()
asked = mpind("health", "--live", "--admin-listen", f"127.0.0.1:{admin}")
assert asked.returncode != 0, "there is no server"
PY
ok "a registration, a login, health, and libpq, in a file system that cannot be written"
echo "$passed passed"
