#!/usr/bin/env python3
"""Checks that the export and the deletion of a user know every table of the stores: a table is either in
`UserRecords.places`, or below with the reason why it has no data of users that must be there."""

from __future__ import annotations

import re
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "Sources"
RECORDS = SOURCES / "MPinServer/Operating/UserRecords.swift"
OTHERS = {
    # What belongs to the operator and the server.
    "admin_token": "the operator's", "clients": "the operator's", "project": "the operator's",
    "project_token": "of back ends of projects",
    "master_share": "a D-TA's", "passphrase": "a D-TA's", "oidc_keys": "signing keys", "setting": "of the server",
    "packed": "which tables were converted", "index": "which indexes are complete", "health": "a probe", "copy": "how far `mpind copy` has come",
    "service": "which service uses a shared store",
    "suspension": "the operator's, exported with a user and kept (`UserRecords.kept`)",
    "kept_name": "names at clients that nobody else may get, exported with a user and kept (`UserRecords.kept`)",
    "audit_mark": "how far the audit log of each server has come",
    # What names no user, and leads to nobody when the user's items are gone.
    "oidc_revoked_token": "ids of access tokens, until these expire",
    "oidc_session_grant": "ids of sessions and of grants", "oidc_phone_session": "ids of sessions, for hours",
    "forward_auth_session": "ids of sessions, for hours", "unknown_identity": "wrong PINs of IDs that do not exist",
    "lost_registration": "hashes of M-Pin IDs", "lost_registrations": "times of backups",
    # What tells the clients of a user's logout, also of that of a deleted user.
    "oidc_logout": "logouts, for a day at most",
}  # fmt: skip
#: What is in the short-lived store, which is usually memory, and ends by itself soon.
SHORT_LIVED = """
    asked_mail forward_auth_login login oidc_code oidc_device oidc_login oidc_login_session oidc_login_session_key
    oidc_user_code one_time_password pass1 pending_mail permit project_activation project_code project_link project_mail
    project_quickcode project_session project_session_name proposed_session token unknown_token web_session webott wid wrong_code
""".split()
# The second form is that of Identities, which needs the name of its table twice.
TABLE = re.compile(
    r'\b(?:(?:Table(?:<[^>()]*>+)?|OwnedNames|ItemKey|UserCodes|MailBackoff)\(|unknown: )"([a-z0-9_]+)"')


def main() -> int:
    there = {name for path in SOURCES.rglob("*.swift") for name in TABLE.findall(path.read_text())}
    places = RECORDS.read_text().partition("places: [")[2].partition("\n    ]")[0]
    deleted = set(re.findall(r'\("([a-z0-9_]+)", \.', places))
    others = {*OTHERS, *SHORT_LIVED}
    wrong = [f"{name}: neither in UserRecords.places nor among the others here" for name in there - deleted - others]
    wrong += [f"{name}: there is no such table" for name in (deleted | others) - there]
    wrong += [f"{name}: in both lists" for name in deleted & others]
    for text in sorted(wrong):
        print(f"tables: error: {text}")
    if wrong:
        return 1
    print(f"{len(there)} tables are in a list: 1 passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
