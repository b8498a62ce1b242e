"""The client for browsers at an origin of its own (`mpind --client-origin`). The server runs without it for the tests
"before", and with it for those "after"; the browser's profile stays."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from phone import wait_until
from test_browser import BACKEND, DESK_SIZE, PHONE_SIZE, read_code
from test_browser_client import NEW_PIN, PIN, Tab, a_browser

USER = "mover@example.com"
HOME = os.environ["MPIN_CLIENT_ORIGIN"]


@pytest.fixture
def desk() -> Iterator[Tab]:
    with a_browser(DESK_SIZE, f"--user-data-dir={os.environ['MPIN_PROFILE']}") as tab:
        yield tab


def test_before_the_identity_is_at_the_origin_of_the_site(desk: Tab) -> None:
    desk.registered(USER)


def test_after_it_moves_by_a_quick_code(desk: Tab) -> None:
    desk.open("/client")
    desk.click("Move")
    desk.enter("Enter your PIN", PIN)
    desk.wait_for(f"You are registering {USER}")
    assert str(desk.driver.current_url) == HOME + "/client"
    desk.click("Choose a PIN")
    desk.enter("Choose a PIN", NEW_PIN)
    desk.enter("Enter the new PIN again", NEW_PIN)
    desk.wait_for(f"{USER} is registered in this browser")
    # What is left at the old place can be forgotten there. Then that page leads to the new one.
    desk.open("/client")
    desk.click("Forget in this browser")
    desk.click(f"Forget {USER}")
    desk.wait_for("Change the PIN")
    assert str(desk.driver.current_url) == HOME + "/client"


def test_after_the_site_runs_no_client_and_leads_to_it(desk: Tab) -> None:
    desk.open("/login")
    site = desk.driver.current_window_handle
    assert desk.driver.execute_script("return document.querySelectorAll('script[type=module]').length") == 0
    assert desk.driver.execute_script("return navigator.serviceWorker.register('/service-worker.js').catch(e => e.name)") \
        == "TypeError"
    assert all("Trusted" in complaint or "trusted" in complaint for complaint in desk.complaints())
    desk.click(f"Go on at {HOME.partition('//')[2]}")
    wait_until(lambda: len(desk.driver.window_handles) == 2)
    desk.driver.switch_to.window(next(handle for handle in desk.driver.window_handles if handle != site))
    assert str(desk.driver.current_url).startswith(HOME + "/client#")
    desk.click(f"Log in as {USER}")
    desk.enter("Enter your PIN", NEW_PIN)
    desk.wait_for(f"The other screen is logged in as {USER}")
    desk.driver.close()
    desk.driver.switch_to.window(site)
    desk.wait_for(f"You are logged in as {USER}")


def test_after_a_phone_signs_up_there_and_logs_in_the_screen(desk: Tab) -> None:
    desk.open("/login")
    link = read_code(desk.picture("client-origin-code"))
    assert link.startswith(BACKEND + "#")
    with a_browser(PHONE_SIZE) as phone:
        phone.open(link)
        phone.wait_for("Log in another screen?")
        assert str(phone.driver.current_url).startswith(HOME + "/client#")
        phone.sign_up("walker@example.com")
        phone.wait_for("The other screen is logged in as walker@example.com")
    desk.wait_for("You are logged in as walker@example.com")
