"""The end of `make demo`: two browsers, one of them of the size of a phone, log each other in without any app. Each line
on the standard output is a step."""

from __future__ import annotations

from test_browser import PHONE_SIZE, read_code
from test_browser_client import PIN, Tab, a_browser


def say(text: str) -> None:
    print(text, flush=True)


def log_in(reader: Tab, screen: Tab, user: str, name: str) -> None:
    """`reader` reads the QR code on the screen of the other browser, and logs that in."""
    screen.open("/login")
    link = read_code(screen.picture(f"demo-{name}"))
    reader.open(link)
    reader.click(f"Log in as {user}")
    reader.enter("Enter your PIN", PIN)
    reader.wait_for(f"The other screen is logged in as {user}")
    screen.wait_for(f"You are logged in as {user}")
    say(f"{name}: a camera reads {link.partition('#')[0]}#..., PIN {PIN}; the screen: You are logged in as {user}.")


with a_browser() as desktop, a_browser(PHONE_SIZE) as phone:
    for browser, user in ((phone, "carol@example.com"), (desktop, "dave@example.com")):
        browser.registered(user)
        say(f"{user} signed up in a browser, by a code in a mail; PIN {PIN}")
    log_in(phone, desktop, "carol@example.com", "the phone logs in the desktop")
    desktop.forget_everything()
    log_in(desktop, phone, "dave@example.com", "the desktop logs in the phone")
