"""An app on the command line whose user chooses where to log in: with an account of the app's own, by mail address and
PIN, or at another provider, in the browser. The login is kept, so the next start asks nothing.

    register MAIL     make an account of the app's own; asks for a PIN when the mail was opened
    forgot MAIL       the same for a PIN that was forgotten
    login PROVIDER    log in; "login home MAIL" with the PIN of an account
    orders            call the API
    bad-auth [retry]  call what answers 401: with "retry" by the rule of the session, else it ends in a logout
    logout            forget the tokens, and nothing else
    quit

ISSUER and CLIENT_ID are of the app's own provider; OTHER_ISSUER, OTHER_CLIENT_ID and OTHER_CLIENT_SECRET of another one.
STORE is the file for the users, and API the URL of bindings/samples/api.
"""

import getpass
import os
import sys
import time
import webbrowser

import mpin
import requests

HOME, OTHER = "home", "other"

class App:
    def __init__(self):
        # A terminal shows no PIN that is typed. A program that starts this one may write it.
        self.ask = getpass.getpass if sys.stdin.isatty() else self.read
        self.api = os.environ["API"]
        # Without a backend the app starts without a network, too.
        self.sdk = mpin.SDK(os.environ["STORE"])
        self.session = mpin.Session(
            self.sdk, ask_pin=lambda asked: self.ask(f"PIN of {asked.user_id}: "), open_browser=webbrowser.open)
        self.session.add_provider(mpin.Provider(
            HOME, os.environ["CLIENT_ID"], os.environ["ISSUER"], redirect_uri="http://127.0.0.1/callback",
            origins=[self.api]))
        self.session.add_provider(mpin.Provider(
            OTHER, os.environ["OTHER_CLIENT_ID"], os.environ["OTHER_ISSUER"], mpin.Login.BROWSER,
            client_secret=os.environ["OTHER_CLIENT_SECRET"], scope="openid profile email"))
        self.commands = {
            "register": self.register, "forgot": self.forgot, "login": self.login, "orders": self.orders,
            "bad-auth": self.bad_auth, "logout": self.logout,
        }

    def read(self, question):
        print(question, flush=True)
        return sys.stdin.readline().strip()

    def start(self):
        """The login of the last time is still there. If it has expired, the first request renews it."""
        if self.session.state is mpin.SessionState.SIGNED_IN:
            self.greet()
        else:
            print(f"log in at {HOME} or {OTHER}" + (f", last time {last}" if (last := self.session.last_provider) else ""))

    def greet(self):
        profile = self.session.profile
        print(f"welcome {profile.name or profile.email or profile.sub}, logged in at {self.session.last_provider}")

    # ---- Accounts of the app's own ------------------------------------------------------------------------------

    def register(self, mail):
        if "@" not in mail:
            return print("that is no mail address")
        self.sdk.set_backend(os.environ["ISSUER"])
        user = self.sdk.make_new_user(mail)
        self.sdk.start_registration(user)
        print("open the link in the mail")
        while not self.is_confirmed(user):
            time.sleep(1)
        self.sdk.finish_registration(user, self.ask("choose a PIN: "))
        self.login(HOME, mail)

    def is_confirmed(self, user):
        try:
            self.sdk.confirm_registration(user)
            return True
        except mpin.IdentityNotVerifiedError:
            return False

    def forgot(self, mail):
        """Whoever reads the mails of the address may choose a new PIN."""
        self.sdk.set_backend(os.environ["ISSUER"])
        if user := self.sdk.get_user(mail):
            self.sdk.delete_user(user)
        self.register(mail)

    # ---- The session --------------------------------------------------------------------------------------------

    def login(self, provider=None, mail=None):
        self.session.login(provider or self.session.last_provider, mail)
        self.greet()

    def logout(self):
        self.session.logout()
        print("logged out")

    # ---- The API ------------------------------------------------------------------------------------------------

    def orders(self):
        """A token that has expired is renewed first; a 401 renews it once. Only if that fails the user is asked."""
        self.show(requests.get(self.api + "/orders", auth=self.session.requests_auth(may_interact=True), timeout=30))

    def bad_auth(self, retry=""):
        if retry:
            return self.show(requests.get(self.api + "/bad-auth", auth=self.session.requests_auth(), timeout=30))
        value = self.session.authorization(self.api + "/bad-auth")
        answer = requests.get(self.api + "/bad-auth", headers={"Authorization": value}, timeout=30)
        if answer.status_code == 401:
            print("the API refuses the token")
            return self.logout()
        self.show(answer)

    def show(self, answer):
        told = answer.json()
        print(", ".join(told["orders"]) if answer.status_code == 200 else f"HTTP {answer.status_code}: {told['error']}")

    def run(self):
        self.start()
        print("> ", end="", flush=True)
        for line in iter(sys.stdin.readline, ""):
            command, *words = line.split() or [""]
            if command == "quit":
                break
            try:
                if command not in self.commands:
                    print(__doc__.partition("\n\n")[2].partition("\n\n")[0])
                else:
                    self.commands[command](*words)
            except mpin.MPinError as error:
                print(error)
            except TypeError:
                print(f"{command} needs other words")
            print("> ", end="", flush=True)

if __name__ == "__main__":
    App().run()
