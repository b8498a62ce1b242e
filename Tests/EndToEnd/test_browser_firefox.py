"""The client in Firefox: it signs up, logs in here, logs in another screen by its QR code, and is blocked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from firefox import FirefoxDriver
from phone import wait_until
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.keys import Keys
from test_browser import BACKEND, read_code
from test_browser_client import PIN, WRONG_PIN, Tab, fresh_user


class Fox(Tab):
    """Firefox, with the same actions."""

    def __init__(self) -> None:
        self.driver = FirefoxDriver()  # type: ignore[assignment]

    def type(self, text: str) -> None:
        self.driver.type(text)  # type: ignore[attr-defined]

    def _element(self, by: str, selector: str, use: Callable[[object], object]) -> object:  # type: ignore[override]
        """Tries again while a page is loading, as the driver of Chromium does."""

        def attempt() -> list[object] | None:
            with suppress(WebDriverException):
                return [use(self.driver.find_element(by, selector))]
            return None

        return wait_until(attempt)[0]


@contextmanager
def a_fox(width: int, height: int) -> Iterator[Fox]:
    fox = Fox()
    try:
        fox.driver.resize(width, height)  # type: ignore[attr-defined]
        yield fox
    finally:
        fox.driver.quit()


@pytest.fixture
def desk() -> Iterator[Fox]:
    with a_fox(1100, 900) as fox:
        yield fox


@pytest.fixture
def phone() -> Iterator[Fox]:
    with a_fox(450, 850) as fox:
        yield fox


def test_firefox_signs_up_logs_in_and_is_blocked(desk: Fox) -> None:
    user = fresh_user()
    desk.open("/login")
    desk.sign_up(user)
    desk.wait_for(f"You are logged in as {user}")
    desk.open("/login")
    desk.click(f"Log in as {user}")
    desk.wait_for_pad("Enter your PIN")
    desk.type("12")
    desk.driver.refresh()
    desk.click(f"Log in as {user}")
    desk.enter("Enter your PIN", WRONG_PIN)
    desk.wait_for_note("Wrong PIN")
    desk.enter("Enter your PIN", PIN)
    desk.wait_for(f"You are logged in as {user}")
    desk.open("/login")
    desk.click(f"Log in as {user}")
    for _ in range(2):
        desk.enter("Enter your PIN", WRONG_PIN)
        desk.wait_for_note("Wrong PIN")
    desk.enter("Enter your PIN", WRONG_PIN)
    desk.wait_for(f"The registration of {user} in this browser is blocked or has ended")


def test_firefox_on_a_phone_logs_in_the_screen_whose_code_it_reads(desk: Fox, phone: Fox) -> None:
    user = fresh_user()
    phone.registered(user)
    desk.open("/login")
    link = read_code(desk.picture("firefox-code"))
    assert link.startswith(BACKEND + "#")
    phone.open(link)
    phone.wait_for("Log in another screen?")
    phone.click(f"Log in as {user}")
    phone.enter("Enter your PIN", PIN)
    phone.wait_for(f"The other screen is logged in as {user}")
    desk.wait_for(f"You are logged in as {user}")
    phone.open("/client")
    phone.click("Change the PIN")
    phone.wait_for_pad("Enter your present PIN")
    phone.type(Keys.ESCAPE)
    phone.click("Change the PIN")
    phone.wait_for_pad("Enter your present PIN")
