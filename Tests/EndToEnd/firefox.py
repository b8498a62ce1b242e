"""Firefox for the tests, by Marionette, the protocol that Debian's Firefox has built in: WebDriver's commands as JSON on a
socket. It needs no geckodriver, which Debian does not have. The package `marionette-driver` is not used, because it
needs 15 others and a module that Python has removed."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from phone import wait_until
from selenium.common.exceptions import WebDriverException

PREFERENCES = {
    "marionette.port": 0,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.disabledForTesting": True,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}
# The name of an element's id in WebDriver's JSON.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class FirefoxDriver:
    """The part of Selenium's driver that the tests use, for a Firefox with a profile of its own."""

    def __init__(self, *arguments: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        profile = Path(self._folder.name)
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
        (profile / "user.js").write_text("".join(lines))
        command = ["firefox-esr", "--headless", "--marionette", "--no-remote", "--profile", str(profile), *arguments]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # Firefox takes a free port of the system's and writes it into this file.
        port = wait_until(lambda: _number(profile / "MarionetteActivePort"))
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._answers = self._socket.makefile("rb")
        self._count = 0
        assert self._message()["marionetteProtocol"] == 3
        self._ask("WebDriver:NewSession", {})

    def get(self, url: str) -> None:
        self._ask("WebDriver:Navigate", {"url": url})

    def refresh(self) -> None:
        self._ask("WebDriver:Refresh", {})

    @property
    def current_url(self) -> str:
        return str(self._ask("WebDriver:GetCurrentURL", {})["value"])

    def find_element(self, by: str, selector: str) -> FirefoxElement:
        return FirefoxElement(self, self._ask("WebDriver:FindElement", {"using": by, "value": selector})["value"])

    def find_elements(self, by: str, selector: str) -> list[FirefoxElement]:
        found = self._ask("WebDriver:FindElements", {"using": by, "value": selector})
        return [FirefoxElement(self, each) for each in found]

    def execute_script(self, script: str, *args: object) -> Any:
        return self._ask("WebDriver:ExecuteScript", {"script": script, "args": args})["value"]

    def execute_async_script(self, script: str, *args: object) -> Any:
        return self._ask("WebDriver:ExecuteAsyncScript", {"script": script, "args": args})["value"]

    def type(self, keys: str) -> None:
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._ask("WebDriver:PerformActions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def save_screenshot(self, file: str) -> None:
        picture = self._ask("WebDriver:TakeScreenshot", {"full": False, "hash": False})["value"]
        Path(file).write_bytes(base64.b64decode(picture))

    def resize(self, width: int, height: int) -> None:
        self._ask("WebDriver:SetWindowRect", {"width": width, "height": height})

    def quit(self) -> None:
        self._socket.close()
        self._process.terminate()
        self._process.wait(60)
        self._folder.cleanup()

    def _ask(self, command: str, parameters: dict[str, object]) -> Any:
        self._count += 1
        text = json.dumps([0, self._count, command, parameters])
        data = text.encode()
        self._socket.sendall(b"%d:%b" % (len(data), data))
        _, number, error, result = self._message()
        assert number == self._count
        if error is not None:
            raise WebDriverException(f"{command}: {error['error']}: {error['message']}")
        return result

    def _message(self) -> Any:
        """A message: its length in decimal digits, a colon, and JSON."""
        length = b""
        while (digit := self._answers.read(1)) != b":":
            assert digit, "Firefox has ended"
            length += digit
        return json.loads(self._answers.read(int(length)))


class FirefoxElement:
    """An element of the page."""

    def __init__(self, driver: FirefoxDriver, reference: dict[str, str]) -> None:
        self._driver = driver
        self._id = {"id": reference[ELEMENT]}

    def click(self) -> None:
        self._driver._ask("WebDriver:ElementClick", dict(self._id))

    def send_keys(self, text: str) -> None:
        self._driver._ask("WebDriver:ElementSendKeys", {**self._id, "text": text})

    @property
    def text(self) -> str:
        return str(self._driver._ask("WebDriver:GetElementText", dict(self._id))["value"])

    def is_displayed(self) -> bool:
        return bool(self._driver._ask("WebDriver:IsElementDisplayed", dict(self._id))["value"])


def _number(file: Path) -> int | None:
    text = file.read_text() if file.exists() else ""
    return int(text) if text.strip().isdigit() else None
