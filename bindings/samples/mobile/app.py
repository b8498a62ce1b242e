"""An app that logs its user in by its back end (backend.py), with the steps of MIRACL's Mobile App Login sample: one
user at a time, who registers by mail, and then needs only the PIN.

    app.py [delete | resend]     delete forgets the user; resend sends the mail of a registration again

AUTH_BACKEND is the URL of mpind, BACKEND that of backend.py, STORE the file for the user.
"""

import getpass
import os
import sys
import time

import mpin
import requests

def ask(question, secret=False):
    if sys.stdin.isatty():
        return getpass.getpass(question) if secret else input(question)
    print(question, flush=True)
    return sys.stdin.readline().strip()

def post(path, **body):
    return requests.post(os.environ["BACKEND"] + path, json=body, timeout=30)

def access_code(sdk):
    return sdk.get_access_code(post("/authzurl").json()["authorizeURL"])

def the_user(sdk):
    """The app is for one user. One that cannot log in any more is forgotten."""
    users = sdk.list_users()
    if len(users) == 1 and users[0].state not in (mpin.State.INVALID, mpin.State.BLOCKED):
        return users[0]
    for user in users:
        sdk.delete_user(user)
    return None

def begin(sdk, mail):
    user = sdk.make_new_user(mail, "SampleDevName")
    sdk.start_registration_mfa(user, access_code(sdk))
    return user

def register(sdk, user):
    """Asks until the link in the mail was opened."""
    print("open the link in the mail", flush=True)
    while True:
        try:
            sdk.confirm_registration(user)
            break
        except mpin.IdentityNotVerifiedError:
            time.sleep(1)
    sdk.finish_registration(user, ask("choose a PIN: ", secret=True))
    print("registered")

def log_in(sdk, user):
    code = access_code(sdk)
    sdk.start_authentication_mfa(user, code)
    authz_code = sdk.finish_authentication_mfa(user, ask(f"PIN of {user.id}: ", secret=True), code)
    answer = post("/authtoken", code=authz_code, userID=user.id)
    if answer.status_code != 200:
        sys.exit(f"the back end refuses: HTTP {answer.status_code}")
    print(f"logged in as {answer.json()['userID']}")

def main(command=""):
    with mpin.SDK(os.environ["STORE"], backend=os.environ["AUTH_BACKEND"]) as sdk:
        user = the_user(sdk)
        if user and command:
            mail = user.id
            sdk.delete_user(user)
            if command == "delete":
                return print("deleted")
            user = begin(sdk, mail)
        if not user:
            user = begin(sdk, ask("your mail address: "))
        if user.state is not mpin.State.REGISTERED:
            register(sdk, user)
        log_in(sdk, user)

if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except mpin.MPinError as error:
        sys.exit(str(error))
