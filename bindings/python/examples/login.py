#!/usr/bin/env python3
"""Registers a user, or logs one in, with libmpin.

    login.py --backend URL --store PATH [--timeout SECONDS] register USER
    login.py --backend URL --store PATH login USER

The PIN is read from standard input, one line. Never pass a PIN as an argument: every user of the machine can see
arguments.
Prints OK, or the name of the status that ended it, such as INCORRECT_PIN.
Exit code: 0 OK, 1 failed, 2 wrong usage, 3 INCORRECT_PIN, 4 BLOCKED.
"""

import argparse
import getpass
import sys
import time

import mpin


def read_pin() -> bytearray:
    """Reads a PIN into memory that can be wiped."""
    if sys.stdin.isatty():
        return bytearray(getpass.getpass("PIN: ").encode())
    return bytearray(sys.stdin.buffer.readline()).rstrip(b"\n")


def wait_for_activation(sdk: mpin.SDK, user: mpin.User, timeout: float) -> None:
    """Asks for the client secret until the user has opened the link in the mail."""
    end = time.monotonic() + timeout
    said = False
    while True:
        try:
            return sdk.confirm_registration(user)
        except mpin.IdentityNotVerifiedError:
            if time.monotonic() >= end:
                raise
        if not said:
            print("waiting for the activation mail", file=sys.stderr)
            said = True
        time.sleep(0.2)


def register(sdk: mpin.SDK, user_id: str, timeout: float) -> None:
    with sdk.make_new_user(user_id) as user:
        if user.state is mpin.State.INVALID:
            sdk.start_registration(user)
        wait_for_activation(sdk, user, timeout)
        pin = read_pin()
        try:
            sdk.finish_registration(user, pin)
        finally:
            pin[:] = bytes(len(pin))


def login(sdk: mpin.SDK, user_id: str) -> int:
    user = sdk.get_user(user_id)
    if user is None:
        raise SystemExit(f"login.py: {user_id} is not registered")
    with user:
        try:
            sdk.start_authentication(user)
            pin = read_pin()
            try:
                sdk.finish_authentication(user, pin)
            finally:
                pin[:] = bytes(len(pin))
        except mpin.MPinError as error:
            if user.state is mpin.State.BLOCKED:
                print("BLOCKED")
                return 4
            if isinstance(error, mpin.IncorrectPinError):
                print(error.status)
                return 3
            raise
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Registers a user, or logs one in. The PIN is read from standard input."
    )
    parser.add_argument("--backend", required=True, help="base URL of the server")
    parser.add_argument("--store", required=True, help="file that keeps users and tokens")
    parser.add_argument("--timeout", type=float, default=300, help="seconds to wait for the activation mail")
    parser.add_argument("command", choices=["register", "login"])
    parser.add_argument("user", help="user id, such as alice@example.com")
    args = parser.parse_args()
    try:
        with mpin.SDK(args.store, backend=args.backend) as sdk:
            code = 0
            if args.command == "register":
                register(sdk, args.user, args.timeout)
            else:
                code = login(sdk, args.user)
            if code == 0:
                print("OK")
            return code
    except mpin.MPinError as error:
        print(f"login.py: {error}", file=sys.stderr)
        print(error.status)
        return 1


if __name__ == "__main__":
    sys.exit(main())
