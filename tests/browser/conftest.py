"""The whole product, started by `manage.py up` as a user starts it, and a real browser in front of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright

from tests import packages
from tests.machine import free_port

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT = 120.0  # seconds, on a busy machine
CHROMIUM_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@dataclass(frozen=True)
class Product:
    """A running product: where it is, who may sign in, and its state directory."""

    people: str
    agents: str
    passwords: dict[str, str]
    agent_token: str
    var: Path
    drafts_at_start: int

    @property
    def sockets(self) -> Path:
        """The directory of the embedded servers' sockets."""
        return self.var / "run"

    def secret(self, name: str) -> str:
        """One password of the embedded servers."""
        return str(json.loads((self.var / "secrets.json").read_text())[name])


@pytest.fixture(scope="session")
def product() -> Iterator[Product]:
    """`manage.py up` with its demo, in a state directory of its own."""
    var = Path(tempfile.mkdtemp(prefix="counterseal-up-"))
    var.chmod(0o755)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("COUNTERSEAL_", "DATABASE_URL", "DJANGO_"))}
    environment["COUNTERSEAL_VAR"] = str(var)
    # The one page that is looked at for as long as it asks is the one of tests/browser/test_write.py.
    environment["COUNTERSEAL_VIEWING_SECONDS"] = "0"
    environment["COUNTERSEAL_PROPOSALS_PER_HOUR"] = environment["COUNTERSEAL_APPROVALS_PER_HOUR"] = "1000000"
    command = [sys.executable, "manage.py", "up", "--port", str(free_port()), "--agents-port", str(free_port())]
    started = time.monotonic()
    with (var / "up.out").open("wb") as output:
        up = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield _wait_for_demo(up, var, started)
    finally:
        up.send_signal(signal.SIGINT)
        up.wait(60)
        shutil.rmtree(var, ignore_errors=True)


def _wait_for_demo(up: subprocess.Popen[bytes], var: Path, started: float) -> Product:
    while time.monotonic() - started < START_TIMEOUT:
        if up.poll() is not None:
            break
        if (var / "demo.json").exists():
            demo: dict[str, Any] = json.loads((var / "demo.json").read_text())
            urls, people = demo["urls"], demo["people"]
            return Product(urls["people"], urls["agents"], people, demo["agent_token"], var, _drafts(var))
        time.sleep(0.1)
    logs = "\n".join(f"== {log.name}\n{log.read_text()[-3000:]}" for log in [var / "up.out", *(var / "log").glob("*")])
    raise AssertionError(f"the demo was not there after {time.monotonic() - started:.0f} s\n{logs}")


def _drafts(var: Path) -> int:
    secrets = json.loads((var / "secrets.json").read_text())
    where = {"host": str(var / "run"), "dbname": "counterseal", "user": "counterseal_people"}
    with psycopg.connect(**where, password=secrets["db_people"]) as connection:
        row = connection.execute("select count(*) from triage_draft").fetchone()
    return int(row[0]) if row else 0


def find_chromium() -> str | None:
    """A Chromium of this machine: the one that CHROMIUM names, or one on the path."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("CHROMIUM") or next((found for name in names if (found := shutil.which(name))), None)


def install_chromium() -> str | None:
    """Debian's Chromium, where we may install it."""
    if not packages.install("chromium", "fonts-dejavu-core"):
        return None
    return find_chromium()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Headless Chromium, installed when it is missing and we may; without one, CI fails and others are told."""
    executable = find_chromium() or install_chromium()
    if executable is None:
        told = "There is no Chromium here. Install it, or name one in CHROMIUM, to run the browser tests."
        if os.environ.get("CI"):
            pytest.fail(told)
        pytest.skip(told)
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=executable, args=CHROMIUM_FLAGS)
        yield chromium
        await chromium.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A fresh page of 1360 pixels' width, in a context without cookies."""
    context = await browser.new_context(viewport={"width": 1360, "height": 900})
    yield await context.new_page()
    await context.close()


def operate(product: Product, *command: str) -> str:
    """What an operator's command prints beside the running product."""
    environment = {**os.environ, "COUNTERSEAL_VAR": str(product.var)}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    words = [sys.executable, "manage.py", *command]
    done = subprocess.run(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def intake_token(product: Product) -> str:
    """A monitor's token, made by the operator's command."""
    said = operate(product, "intake_token", f"monitor-{time.time_ns()}")
    return next(word for word in said.split() if word.startswith("csi_"))


async def sign_in(page: Page, product: Product, username: str) -> None:
    """Sign in as a person does."""
    await page.goto(f"{product.people}/sign-in/")
    await page.get_by_label("Name").fill(username)
    await page.get_by_label("Password").fill(product.passwords[username])
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url("**/inbox/")
