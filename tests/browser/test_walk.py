"""The main job, end to end: read a draft, follow its evidence, preview and approve a write, find it in the log."""

from __future__ import annotations

import re

import psycopg
import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.conftest import Product, operate, sign_in

pytestmark = pytest.mark.asyncio(loop_scope="session")
REASON = "The worker is gone and the job is safe to run again."


def shop(product: Product) -> psycopg.Connection:
    """A connection to the shop's database, as its owner."""
    return psycopg.connect(
        host=str(product.sockets), dbname="shop", user="shop_owner", password=product.secret("shop_owner")
    )


async def test_six_drafts_wait_once_the_demo_is_there(product: Product, page: Page) -> None:
    assert product.drafts_at_start == 6
    await sign_in(page, product, "ada")
    for number in range(1, 7):
        await expect(page.locator(".row .mono").get_by_text(f"V-{number}", exact=True)).to_be_visible()


async def test_a_draft_shows_what_each_check_read(product: Product, page: Page) -> None:
    await sign_in(page, product, "ada")
    await page.get_by_role("link", name=re.compile("90412")).first.click()
    await expect(page.locator(".verdict__word")).to_have_text("Pass")
    await expect(page.locator(".check--bad")).to_have_count(0)
    marked = page.locator(".json mark", has_text='"state": "succeeded"')
    await expect(marked).to_be_visible()
    await page.locator(".evidence .id").first.click()
    await expect(page.locator("h1")).to_contain_text("triage-agent called")
    await expect(page.locator(".trust")).to_contain_text("unchanged")


async def test_a_missing_count_is_not_zero(product: Product, page: Page) -> None:
    await sign_in(page, product, "ada")
    await page.get_by_role("link", name=re.compile("90455")).first.click()
    await expect(page.locator(".verdict__word")).to_have_text("Fail")
    counted = page.locator(".check", has_text="the count is exactly 0")
    await expect(counted).to_contain_text("unreadable")
    await expect(counted).to_contain_text("its count says nothing")
    await expect(page.locator(".json").filter(has_text="scanned")).not_to_contain_text('"count"')


async def test_the_second_of_two_reviewers_is_told_what_changed(product: Product, browser: Browser) -> None:
    first, second = [await (await browser.new_context()).new_page() for _ in range(2)]
    for page in (first, second):
        await sign_in(page, product, "ada")
        await page.get_by_role("link", name=re.compile("90455")).first.click()
        await expect(page.locator(".verdict__word")).to_be_visible()
    await first.get_by_label("Why").fill("The search never finished.")
    await first.get_by_role("button", name="Agree: fail").click()
    await first.wait_for_url("**/inbox/")
    await second.get_by_label("Why").fill("Looks fine to me.")
    async with second.expect_response(re.compile("/review/$")) as answer:
        await second.get_by_role("button", name="Overrule").click()
    assert (await answer.value).status == 409
    await expect(second.get_by_label("Your text, not recorded")).to_have_value("Looks fine to me.")
    await expect(second.locator(".notice--bad")).to_contain_text("The search never finished.")
    for page in (first, second):
        await page.context.close()


async def test_a_write_is_previewed_approved_and_run_once(product: Product, page: Page) -> None:
    with shop(product) as connection:
        before = connection.execute("select state, locked_by from shop.jobs where job_id = 90433").fetchone()
    assert before == ("running", "worker-7")
    await sign_in(page, product, "ada")
    await page.locator(".row__title a[href='/writes/1/']").click()
    await page.get_by_role("button", name=re.compile("Preview")).click()
    approve = page.get_by_role("button", name=re.compile("Approve: update 1 row in shop.jobs"))
    await expect(approve).to_be_visible(timeout=30_000)
    await expect(page.locator(".diff").first).to_contain_text("worker-7")
    await page.get_by_label("Why").fill(REASON)
    await page.get_by_label(re.compile("password", re.IGNORECASE)).fill(product.passwords["ada"])
    await approve.click()
    await expect(page.locator(".page__head .state")).to_have_text("Executed", timeout=30_000)
    with shop(product) as connection:
        after = connection.execute("select state, locked_by from shop.jobs where job_id = 90433").fetchone()
        ledger = connection.execute("select count(*) from shop.gate_ledger where write_ref = 'W-1'").fetchone()
    assert after == ("queued", None)
    assert ledger == (1,)
    await page.goto(f"{product.people}/audit/?kind=write.executed")
    await expect(page.locator(".table--log tbody")).to_contain_text("write.executed")


async def test_a_wrong_password_approves_nothing(product: Product, page: Page) -> None:
    await page.goto(f"{product.people}/sign-in/")
    await page.get_by_label("Name").fill("ada")
    await page.get_by_label("Password").fill("not this one")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.locator(".err")).to_contain_text("Name or password is wrong.")


async def test_the_log_of_all_this_verifies(product: Product) -> None:
    said = operate(product, "verify_log")
    assert "Integrity: " in said
    assert "Completeness: nothing is missing." in said
    assert " findings" not in said
