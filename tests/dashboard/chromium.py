"""A headless Chromium that watches for errors and foreign requests."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
)  # fmt: skip


class Browser:
    """One window of a fresh profile.

    Raises:
        LookupError: Chromium, its driver or selenium is absent; the message names it.
    """

    def __init__(self, profile: Path, width: int = 1440, height: int = 900) -> None:
        binary = shutil.which("chromium") or shutil.which("google-chrome")
        driver = shutil.which("chromedriver")
        if binary is None or driver is None:
            raise LookupError("Chromium and chromedriver are needed on PATH")
        try:
            from selenium import webdriver
            from selenium.webdriver.chrome.service import Service
        except ImportError as error:
            raise LookupError("selenium is needed") from error
        # A proxy would stand between the driver and the loopback interface.
        os.environ.setdefault("NO_PROXY", "127.0.0.1,localhost")
        options = webdriver.ChromeOptions()
        options.binary_location = binary
        for flag in (*FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver))
        # The window's size includes a frame that differs by version; the page's size is what is meant.
        self.resize(width, height)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.driver.quit()

    def resize(self, width: int, height: int) -> None:
        """Sets the size of the page in pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def run(self, script: str, *arguments: object) -> Any:
        """Value of a script in the page."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition: Callable[[], object], what: str, timeout_s: float = 30.0) -> Any:
        """Waits until ``condition`` gives something true, and returns that."""
        until = time.monotonic() + timeout_s
        while not (found := condition()):
            assert time.monotonic() < until, f"waited {timeout_s} s for {what}"
            time.sleep(0.05)
        return found

    def errors(self) -> list[str]:
        """Everything the console said since the last call, above the level of information."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] != "INFO"]

    def foreign_hosts(self, own: str) -> set[str]:
        """Hosts other than that of ``own`` which were asked for anything since the last call."""
        hosts = set()
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                parameters = message["params"]
                url = urlsplit(parameters.get("url") or parameters["request"]["url"])
                if url.scheme not in ("data", "blob", "chrome", "about"):
                    hosts.add(url.netloc)
        return hosts - {urlsplit(own).netloc}


@contextmanager
def browser_or_skip(profile: Path, width: int = 1440, height: int = 900) -> Iterator[Browser]:
    """A browser while the context lasts; where there is none, skip the test with the reason."""
    try:
        window = Browser(profile, width, height)
    except LookupError as error:
        pytest.skip(str(error))
    with window:
        yield window
