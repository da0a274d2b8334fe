"""Passkeys in a real browser with a virtual authenticator: added, signing in, approving, and refused in a frame."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from gate.people.key_assertions import BadAssertion, Party, read, verify
from tests.browser.axe import faults_in_each_look
from tests.browser.conftest import CHROMIUM_FLAGS, ROOT, Product, find_chromium, sign_in
from tests.machine import free_port
from tests.software_key import b64, unb64

pytestmark = pytest.mark.asyncio(loop_scope="session")
AUTHENTICATOR = {
    "protocol": "ctap2", "ctap2Version": "ctap2_1", "transport": "usb", "hasResidentKey": True,
    "hasUserVerification": True, "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip


def manage(product: Product, *words: str, typed: str = "") -> str:
    """An operator's command beside the running product."""
    environment = {**os.environ, "COUNTERSEAL_VAR": str(product.var), "COUNTERSEAL_ORIGIN": product.people}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, "manage.py", *words]
    done = subprocess.run(command, cwd=ROOT, env=environment, input=typed, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


async def with_authenticator(context: BrowserContext, **more: Any) -> tuple[Page, Any, str]:
    """A page whose browser has a key, and how to reach that key."""
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    await session.send("WebAuthn.enable", {"enableUI": False})
    made = await session.send("WebAuthn.addVirtualAuthenticator", {"options": {**AUTHENTICATOR, **more}})
    return page, session, made["authenticatorId"]


async def enter(page: Page, product: Product, username: str, password: str) -> None:
    await page.goto(f"{product.people}/sign-in/")
    await page.get_by_label("Name").fill(username)
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("button", name="Sign in").click()


async def add_key(page: Page, product: Product, name: str, password: str) -> None:
    await page.goto(f"{product.people}/me/keys/")
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Your password").fill(password)
    await page.get_by_label("Your password").press("Enter")
    await expect(page.get_by_text("waits to be confirmed").first).to_be_visible()


def propose(product: Product, job: int) -> int:
    """A write that the demo's agent proposes; its number."""
    write = {
        "target": "shop", "title": f"Count an attempt of job {job}", "reason": "It was tried by hand.",
        "statement": "update shop.jobs set attempts = $1 where job_id = $2",
        "parameters": [{"t": "integer", "v": "9"}, {"t": "bigint", "v": str(job)}],
    }  # fmt: skip
    headers = {"Authorization": f"Bearer {product.agent_token}"}
    answer = httpx2.post(f"{product.agents}/api/v1/writes", json=write, headers=headers, timeout=30)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["write"].removeprefix("W-"))


async def test_a_passkey_is_added_confirmed_pinned_signs_in_and_approves(
    product: Product, browser: Browser, tmp_path: Path
) -> None:
    password = manage(product, "add_person", "kim", "--role", "on-call").rpartition("shown only now: ")[2].strip()
    context = await browser.new_context(viewport={"width": 1360, "height": 900}, accept_downloads=True)
    page, session, authenticator = await with_authenticator(context)
    await enter(page, product, "kim", password)
    await page.wait_for_url("**/inbox/")
    await add_key(page, product, "desk", password)
    assert await faults_in_each_look(page, "/me/keys/") == {}

    admin = await (await browser.new_context()).new_page()
    await sign_in(admin, product, "jonas")
    await admin.goto(f"{product.people}/people/")
    await admin.locator(".notice", has_text="A key of kim waits").get_by_role("link", name="Look at it").click()
    assert await faults_in_each_look(admin, "a person with a key") == {}
    await admin.get_by_role("button", name="Confirm desk").click()
    await expect(admin.get_by_text("not pinned by the writer")).to_be_visible()
    await admin.context.close()

    assert "is it this one" in manage(product, "pin_key", "kim", typed="no\n").lower()
    assert "believes “desk”" in manage(product, "pin_key", "kim", typed="yes\n")
    await page.reload()
    await expect(page.get_by_text("pinned by the writer")).to_be_visible()

    # The authenticator that one has is not made a second key of.
    await page.get_by_label("Name").fill("the same")
    await page.get_by_label("Your password").fill(password)
    await page.get_by_role("button", name="Add a key").click()
    await expect(page.locator("[data-says]:visible")).to_contain_text("enrolled already")

    # The second step of the next sign-in.
    await context.clear_cookies()
    await enter(page, product, "kim", password)
    await page.wait_for_url("**/sign-in/passkey/")
    assert await faults_in_each_look(page, "/sign-in/passkey/") == {}
    await page.keyboard.press("Enter")  # on the button, which has the focus
    await page.wait_for_url("**/inbox/")

    # A decision that the key signs.
    number = propose(product, 90455)
    await page.goto(f"{product.people}/writes/{number}/")
    await page.get_by_role("button", name=re.compile("Preview")).click()
    approve = page.get_by_role("button", name=re.compile("Approve: update 1 row in shop.jobs"))
    await expect(approve).to_be_visible(timeout=60_000)
    await session.send("WebAuthn.setUserVerified", {"authenticatorId": authenticator, "isUserVerified": False})
    await page.get_by_label("Why").fill("It is free to run.")
    await page.wait_for_timeout(12_000)  # a page is looked at for a while before anybody approves
    await approve.click()
    await expect(page.locator("[data-says]:visible")).to_contain_text("did not sign", timeout=90_000)
    await session.send("WebAuthn.setUserVerified", {"authenticatorId": authenticator, "isUserVerified": True})
    await approve.click()
    await expect(page.locator(".page__head .state")).to_have_text("Executed", timeout=60_000)
    await expect(page.locator(".slot--done", has_text="with a passkey")).to_be_visible()

    # What was signed is proven without the product.
    await expect(async_link(page)).to_be_visible(timeout=30_000)
    async with page.expect_download() as download:
        await async_link(page).click()
    await (await download.value).save_as(tmp_path / "receipt.json")
    (tmp_path / "keys").write_text(manage(product, "pin_key", "--list"))
    command = [sys.executable, "-m", "gate.writes.receipt", str(tmp_path / "receipt.json"), "--keys"]
    done = subprocess.run([*command, str(tmp_path / "keys")], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    await context.close()


def async_link(page: Page) -> Any:
    return page.get_by_role("link", name="Download the receipt")


SIGNING = """<!doctype html><title>Signs</title><script>
const bytes = () => crypto.getRandomValues(new Uint8Array(32));
const text = (b) => btoa(String.fromCharCode(...new Uint8Array(b)))
  .replaceAll('+','-').replaceAll('/','_').replace(/=+$/,'');
async function make() {
  const c = await navigator.credentials.create({publicKey: {rp: {id: 'localhost', name: 'x'},
    user: {id: bytes(), name: 'a', displayName: 'a'}, challenge: bytes(),
    pubKeyCredParams: [{type: 'public-key', alg: -7}],
    authenticatorSelection: {userVerification: 'required'}}});
  return {id: text(c.rawId), made: text(c.response.getAuthenticatorData())};
}
async function sign(id, challenge) {
  const raw = (t) => Uint8Array.from(atob(t.replaceAll('-','+').replaceAll('_','/')), (c) => c.charCodeAt(0));
  const c = await navigator.credentials.get({publicKey: {rpId: 'localhost', challenge: raw(challenge),
    allowCredentials: [{type: 'public-key', id: raw(id)}], userVerification: 'required'}});
  return JSON.stringify({rawId: text(c.rawId), response: {clientDataJSON: text(c.response.clientDataJSON),
    authenticatorData: text(c.response.authenticatorData), signature: text(c.response.signature)}});
}
</script>"""


async def test_what_was_signed_in_another_sites_frame_is_refused(product: Product) -> None:
    """Threat 4. A genuine assertion: Chromium signs in a frame whose page allows it, and says so."""
    port, outside = free_port(), free_port()
    frame = f'<iframe allow="publickey-credentials-get *" src="http://localhost:{port}/"></iframe>'
    servers = [
        await asyncio.start_server(answering(SIGNING), "localhost", port),
        await asyncio.start_server(answering(frame), "127.0.0.1", outside),
    ]
    flags = [*CHROMIUM_FLAGS, "--disable-site-isolation-trials", "--disable-features=IsolateOrigins,site-per-process"]
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=find_chromium(), args=flags)
        page, _, _ = await with_authenticator(await chromium.new_context())
        await page.goto(f"http://localhost:{port}/")
        made = await page.evaluate("make()")
        challenge = hashlib.sha256(b"a statement").digest()
        party = Party.of(f"http://localhost:{port}")
        data = unb64(made["made"])
        public_key = data[55 + int.from_bytes(data[53:55], "big") :]
        asked = [made["id"], b64(challenge)]
        own = await page.evaluate("([id, challenge]) => sign(id, challenge)", asked)
        verify(read(own), challenge=challenge, public_key=public_key, party=party)
        await page.goto(f"http://127.0.0.1:{outside}/")
        inside = next(frame for frame in page.frames if frame.url.endswith(f":{port}/"))
        framed = await inside.evaluate("([id, challenge]) => sign(id, challenge)", asked)
        with pytest.raises(BadAssertion, match="inside of another site's page"):
            verify(read(framed), challenge=challenge, public_key=public_key, party=party)
        # And nobody frames us at all.
        answer = await page.goto(f"{product.people}/sign-in/")
        assert answer is not None
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        await chromium.close()
    for server in servers:
        server.close()


def answering(text: str) -> Any:
    """A server's handler that answers everything with one page."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = text.encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    return answer
