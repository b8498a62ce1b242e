"""An app in a process of its own: opens a session and does what the lines of its standard input say."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import mpin


def main() -> None:
    store, later = sys.argv[1], float(sys.argv[2])
    context = mpin.Context(now=lambda: time.time() + later) if later else None
    with mpin.SDK(store, context=context) as sdk, mpin.Session(sdk) as session:
        session.add_provider(provider())
        print("ready", flush=True)
        for line in sys.stdin:
            try:
                print(act(session, line.split()), flush=True)
            except mpin.MPinError as error:
                print(error.status, flush=True)


def provider(name: str = "app") -> mpin.Provider:
    public = os.environ["MPIN_PUBLIC"]
    return mpin.Provider(name, name, public, redirect_uri="http://127.0.0.1/callback", origins=[public])


def act(session: mpin.Session, words: list[str]) -> str:
    if words[0] == "token":
        return session.access_token()
    if words[0] == "threads":
        with ThreadPoolExecutor(int(words[1])) as threads:
            return " ".join(set(threads.map(lambda _: session.access_token(), range(int(words[1])))))
    if words[0] == "state":
        return session.state.name
    if words[0] == "renew":
        session.renew()
        return "done"
    if words[0] == "logout":
        session.logout()
        return "done"
    if words[0] == "cached":
        return cached(session)
    raise ValueError(words)


def cached(session: mpin.Session) -> str:
    """Asks for a valid token many times, between two system calls that a trace shows."""
    session.access_token()
    os.getppid()
    for _ in range(1000):
        session.access_token()
    os.getppid()
    return "done"


if __name__ == "__main__":
    main()
