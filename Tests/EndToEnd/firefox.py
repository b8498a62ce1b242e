"""Firefox for the tests, by Marionette, the protocol that Debian's Firefox has built in. It needs no geckodriver."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from marionette_driver.marionette import Marionette
from phone import wait_until

PREFERENCES = {
    "marionette.port": 0,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.disabledForTesting": True,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}


class FirefoxDriver:
    """The part of Selenium's driver that the tests use, for a Firefox with a profile of its own."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        profile = Path(self._folder.name)
        lines = [f"user_pref({_quoted(name)}, {_quoted(value)});\n" for name, value in PREFERENCES.items()]
        (profile / "user.js").write_text("".join(lines))
        command = ["firefox-esr", "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # Firefox takes a free port of the system's and writes it into this file.
        port = wait_until(lambda: _number(profile / "MarionetteActivePort"))
        self._marionette = Marionette(host="127.0.0.1", port=port)
        self._marionette.start_session()
        self._marionette.timeout.script = 60

    def get(self, url: str) -> None:
        self._marionette.navigate(url)

    def refresh(self) -> None:
        self._marionette.refresh()

    @property
    def current_url(self) -> str:
        return str(self._marionette.get_url())

    def find_element(self, by: str, selector: str) -> Any:
        return self._marionette.find_element(by, selector)

    def find_elements(self, by: str, selector: str) -> list[Any]:
        return list(self._marionette.find_elements(by, selector))

    def execute_script(self, script: str, *args: object) -> Any:
        return self._marionette.execute_script(script, script_args=args)

    def execute_async_script(self, script: str, *args: object) -> Any:
        return self._marionette.execute_async_script(script, script_args=args)

    def type(self, keys: str) -> None:
        actions = self._marionette.actions.sequence("key", "keyboard")
        for key in keys:
            actions.key_down(key).key_up(key)
        actions.perform()

    def save_screenshot(self, file: str) -> None:
        with open(file, "wb") as output:
            output.write(self._marionette.screenshot(format="binary", full=False))

    def resize(self, width: int, height: int) -> None:
        self._marionette.set_window_rect(width=width, height=height)

    def quit(self) -> None:
        try:
            self._marionette.delete_session()
        finally:
            self._process.terminate()
            self._process.wait(60)
            self._folder.cleanup()


def _quoted(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)


def _number(file: Path) -> int | None:
    text = file.read_text() if file.exists() else ""
    return int(text) if text.strip().isdigit() else None
