"""Tests an installed wheel with a server: wheel.py BACKEND STORE with|without (with or without libcurl)."""

import sys
from pathlib import Path

import mpin
from mpin._http import has_curl

backend, store, curl = sys.argv[1:]
assert has_curl() == (curl == "with"), "libcurl is there" if has_curl() else "libcurl is not there"

mpin.self_test()
with mpin.SDK(store, backend=backend) as sdk, sdk.make_new_user(f"wheel-{curl}@example.com") as user:
    sdk.start_registration(user)
    sdk.confirm_registration(user)
    sdk.finish_registration(user, "1234")
    sdk.start_authentication(user)
    try:
        sdk.finish_authentication(user, "4321")
        sys.exit("a wrong PIN logs in")
    except mpin.IncorrectPinError as error:
        assert error.http_status == 401, error.http_status
    sdk.start_authentication(user)
    sdk.finish_authentication(user, "1234")

# Checks that the libraries come from the wheel. libcurl and its dependencies must come from the system.
loaded = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/" in line}
for name in ("libmpin", "libgmp", "libsodium", "libjansson"):
    paths = {path for path in loaded if Path(path).name.startswith(name)}
    inside = {path for path in paths if path.startswith(sys.prefix)}
    assert inside and (curl == "with" or inside == paths), f"{name}: {paths or 'not loaded'}"
paths = {path for path in loaded if Path(path).name.startswith("libcurl")}
assert bool(paths) == (curl == "with") and not any(path.startswith(sys.prefix) for path in paths), paths
print(f"{curl} libcurl: registered and logged in")
