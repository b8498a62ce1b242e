"""A client for the command line: python -m mpin COMMAND."""

from __future__ import annotations

import argparse
import os
import pathlib
import socket
import stat
import sys
import time
from typing import Callable

import mpin
from mpin import State
from mpin._qr import QRCode, introduce_screen
from mpin._terminal import Failure, entered_pin, say

USAGE = """\
Register once, open the link in the mail, choose a PIN, log in:

  export MPIN_BACKEND=https://mpin.example
  python -m mpin register alice@example.com
  python -m mpin login alice@example.com
  python -m mpin login alice@example.com --qr 'https://mpin.example/#0f1e2d...'

The PIN is asked for on the terminal, without echo, or read from a file
descriptor (--pin-fd 3); it is never an argument.

Exit codes: 0 done, 1 failed, 3 incorrect PIN, 4 blocked,
5 not confirmed yet, 64 wrong usage."""

FAILED, INCORRECT_PIN, BLOCKED, NOT_CONFIRMED, WRONG_USAGE = 1, 3, 4, 5, 64


class Blocked(Failure):
    """The error of a login after which the user is blocked, because no attempt is left."""

    code = BLOCKED

    def __init__(self, user: mpin.User) -> None:
        super().__init__(f"BLOCKED: {user.id}: ask the operator to unblock you, or register again")


class Parser(argparse.ArgumentParser):
    """A parser that exits with the code of sysexits.h for wrong usage."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.print_usage(sys.stderr)
        self.exit(WRONG_USAGE, f"{self.prog}: {message}\n")


def known(sdk: mpin.SDK, id: str) -> mpin.User:
    user = sdk.get_user(id)
    if user is None:
        raise Failure(f"{id} is not registered here")
    return user


def is_blocked(user: mpin.User) -> bool:
    return user.state is State.BLOCKED


def register(sdk: mpin.SDK, args: argparse.Namespace) -> None:
    user = sdk.get_user(args.user)
    if user and is_blocked(user):
        sdk.delete_user(user)
    user = sdk.make_new_user(args.user, wanted_device_name(sdk, args))
    if user.state is State.REGISTERED:
        raise Failure(f"{user.id} is registered; to begin anew: python -m mpin delete {user.id}")
    if user.state is State.STARTED_REGISTRATION:
        sdk.restart_registration(user)
    elif user.state is not State.ACTIVATED:
        sdk.start_registration(user)
    finish_registration(sdk, args, user, args.wait)


def wanted_device_name(sdk: mpin.SDK, args: argparse.Namespace) -> str | None:
    """The device name to send, or None. The server's setting setDeviceName decides whether a name is sent.

    Without this setting, the name in --device-name is sent, if there is one.
    """
    name: str | None = args.device_name
    wish = sdk.get_client_param("setDeviceName")
    if wish == "true":
        return name or socket.gethostname()
    if wish == "false" and name:
        say("The server keeps no device names: --device-name is not sent.")
    return None if wish == "false" else name


def confirm(sdk: mpin.SDK, args: argparse.Namespace) -> None:
    finish_registration(sdk, args, known(sdk, args.user), 0)


def finish_registration(sdk: mpin.SDK, args: argparse.Namespace, user: mpin.User, wait: float) -> None:
    """Waits until the link has been opened, then asks for the PIN."""
    end, is_told = time.monotonic() + wait, False
    while True:
        try:
            sdk.confirm_registration(user)
            break
        except mpin.IdentityNotVerifiedError:
            if time.monotonic() >= end:
                raise
        if not is_told:
            say(f"Open the link in the mail to {user.id}. Waiting; `python -m mpin confirm {user.id}` goes on later.")
            is_told = True
        time.sleep(1)
    with entered_pin(args, f"Choose a PIN of {user.pin_length or '4 to 6'} digits", is_new=True) as pin:
        sdk.finish_registration(user, pin)
    print("OK")


def login(sdk: mpin.SDK, args: argparse.Namespace) -> None:
    qr: QRCode | None = args.qr
    if qr:
        qr.settle(sdk, args.backend, args.trust_domain)
    code = qr.code if qr else args.number

    def finish(user: mpin.User, pin: bytearray) -> None:
        sdk.start_authentication(user)
        if code:
            sdk.finish_authentication_an(user, pin, code)
        else:
            sdk.finish_authentication(user, pin)
        print("OK")

    log_in(sdk, args, finish, code)


def otp(sdk: mpin.SDK, args: argparse.Namespace) -> None:
    def finish(user: mpin.User, pin: bytearray) -> None:
        sdk.start_authentication_otp(user)
        made = sdk.finish_authentication_otp(user, pin)
        print(f"{made.otp} (good for {made.ttl_seconds} s)" if made.ttl_seconds else made.otp)

    log_in(sdk, args, finish)


def change_pin(sdk: mpin.SDK, args: argparse.Namespace) -> None:
    def finish(user: mpin.User, old: bytearray) -> None:
        sdk.start_authentication(user)
        sdk.finish_authentication(user, old)
        with entered_pin(args, f"New PIN of {user.pin_length or '4 to 6'} digits", is_new=True) as new:
            sdk.change_pin(user, old, new)
        print("OK")

    log_in(sdk, args, finish)


def log_in(
    sdk: mpin.SDK, args: argparse.Namespace, finish: Callable[[mpin.User, bytearray], None], code: str | None = None
) -> None:
    """Asks for the PIN and does the work. Raises Blocked if the user is blocked afterwards, for its own exit code."""
    user = known(sdk, args.user)
    # The user sees who asks for the login and which server will check the PIN, before the PIN is asked for, because the
    # code may be that of an attacker's browser, which the login would log in as the user.
    session = sdk.get_session_details(code) if code else None
    name = f"{session.app_name or 'an application without a name'}, " if session else ""
    say(f"Login at {name}{user.backend} as {user.id}")
    # The user has read a number from the screen, but others can send the picture of a code.
    if session and args.qr:
        introduce_screen(session, args.any_screen)
    with entered_pin(args, "PIN until now" if args.run is change_pin else "PIN") as pin:
        try:
            finish(user, pin)
        except mpin.IncorrectPinError:
            if is_blocked(user):
                raise Blocked(user) from None
            raise


def list_users(sdk: mpin.SDK, args: argparse.Namespace) -> None:
    users = sdk.list_all_users()
    for user in users:
        print(f"{user.id}\t{user.state.name.lower()}\t{user.backend}")
    if not users:
        print("nobody is registered here")


def delete(sdk: mpin.SDK, args: argparse.Namespace) -> None:
    sdk.delete_user(known(sdk, args.user))
    print("OK")


def doctor(sdk: mpin.SDK, args: argparse.Namespace) -> None:
    mpin.self_test()
    say("arithmetic: known answers")
    for path in (store(args), pathlib.Path(f"{store(args)}.key")):
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise Failure(f"{path} can be read by others: chmod 600")
    users = sdk.list_all_users()
    say(f"store: {store(args)}, {len(users)} users")
    servers = [args.backend] if args.backend else sorted({user.backend for user in users})
    if not servers:
        raise Failure("no server to connect to: --backend or MPIN_BACKEND")
    for server in servers:
        sdk.test_backend(server, args.prefix)
        say(f"server: {server} answers")
    print("OK")


def store(args: argparse.Namespace) -> pathlib.Path:
    if args.store:
        return pathlib.Path(args.store)
    folder = pathlib.Path.home() / ".mpin"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / "store"


def parser() -> Parser:
    common = Parser(add_help=False)
    backend, kept = os.environ.get("MPIN_BACKEND"), os.environ.get("MPIN_STORE")
    common.add_argument("--backend", default=backend, help="base URL of the server ($MPIN_BACKEND)")
    common.add_argument("--prefix", default="rps", help="prefix of the service under the base URL")
    common.add_argument("--store", default=kept, help="file of users and tokens ($MPIN_STORE)")
    common.add_argument("--pin-fd", type=int, metavar="N", help="read PINs, a line each, from this file descriptor")
    common.add_argument("--ca-file", help="PEM file of the certificate authorities to trust")
    whole = Parser(prog="python -m mpin", description=USAGE, formatter_class=argparse.RawDescriptionHelpFormatter)
    whole.add_argument("--version", action="version", version=mpin.__version__)
    commands = whole.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, run: Callable[[mpin.SDK, argparse.Namespace], None], help: str, user: bool = True) -> Parser:
        command: Parser = commands.add_parser(name, help=help, description=help, parents=[common])
        command.set_defaults(run=run)
        if user:
            command.add_argument("user", help="user id, as a rule a mail address")
        return command

    command = add("register", register, "register: the server mails a link; once it is open, choose a PIN")
    command.add_argument("--wait", type=float, default=600, metavar="SECONDS", help="how long to wait for the link")
    command.add_argument("--device-name", help="name of this device, for the server's lists")
    add("confirm", confirm, "go on with a registration: the link has been opened")
    login_command = add("login", login, "log in here, or log in a browser that shows a code")
    code = login_command.add_mutually_exclusive_group()
    code.add_argument("--number", help="the number that the browser shows")
    code.add_argument("--qr", type=QRCode, metavar="URL", help="the URL in the QR code that the browser shows")
    login_command.add_argument(
        "--trust-domain",
        action="append",
        default=[],
        metavar="DOMAIN",
        help="QR codes of this domain, and of what lies in it, lead to their own service without a question",
    )
    login_command.add_argument(
        "--any-screen",
        action="store_true",
        help="go on without a question if the server knows nothing about the screen that shows the code",
    )
    add("otp", otp, "log in and get a one-time code to type elsewhere")
    add("change-pin", change_pin, "log in with the PIN, then replace it")
    add("list", list_users, "list the users that are kept here", user=False)
    add("delete", delete, "erase a user with the token here; the server is not told")
    add("doctor", doctor, "check the arithmetic, the store and the way to the server", user=False)
    return whole


def main() -> int:
    args = parser().parse_args()
    try:
        if not args.backend and args.run not in (list_users, doctor):
            raise Failure("no backend: --backend or MPIN_BACKEND")
        with mpin.SDK(store(args), backend=args.backend, rps_prefix=args.prefix, ca_file=args.ca_file) as sdk:
            args.run(sdk, args)
        return 0
    except mpin.MPinError as error:
        say(f"{error}: {error.__cause__}" if error.__cause__ else str(error))
        codes = {mpin.IncorrectPinError: INCORRECT_PIN, mpin.IdentityNotVerifiedError: NOT_CONFIRMED}
        return codes.get(type(error), FAILED)
    except (Failure, OSError) as error:
        say(str(error))
        return error.code if isinstance(error, Failure) else FAILED
    except (KeyboardInterrupt, EOFError):
        say("interrupted")
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
