"""The README's tested snippets, run as they stand against a running product."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from gate.config.environment import BASE_DIR
from tests.browser.conftest import Product, intake_token, sign_in

README = (BASE_DIR / "README.md").read_text()
SNIPPETS = re.findall(r"<!-- tested -->\n```(sh|python)\n(.*?)```", README, re.DOTALL)


def run(language: str, code: str, product: Product, where: Path) -> subprocess.CompletedProcess[str]:
    """Run a snippet as a reader would, with the addresses of this run in place of the default ports."""
    code = code.replace("http://localhost:8001", product.agents).replace("http://localhost:8000", product.people)
    script = where / "snippet"
    script.write_text(code)
    program = sys.executable if language == "python" else "bash"
    tokens = {"COUNTERSEAL_TOKEN": product.agent_token, "INTAKE_TOKEN": intake_token(product)}
    environment = {**os.environ, **tokens}
    return subprocess.run(
        [program, str(script)], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(("language", "code"), SNIPPETS)
def test_a_snippet_runs(language: str, code: str, product: Product, tmp_path: Path) -> None:
    done = run(language, code, product, tmp_path)
    assert done.returncode == 0, done.stderr
    assert any(word in done.stdout for word in ("find_job", "nvestigation", "received", "proposed", "waiting")), (
        done.stdout
    )


@pytest.mark.asyncio(loop_scope="session")
async def test_the_write_that_a_reader_proposes_can_be_approved(product: Product, page: Page, tmp_path: Path) -> None:
    language, code = next(snippet for snippet in SNIPPETS if "/writes" in snippet[1])
    # The snippet itself ran above, and nobody may ask for exactly the same twice.
    code = code.replace("job_id = $2", "job_id = $2 AND attempts >= 0")
    number = json.loads(run(language, code, product, tmp_path).stdout)["id"]
    await sign_in(page, product, "ada")
    await page.goto(f"{product.people}/writes/{number}/")
    await page.get_by_role("button", name=re.compile("Preview")).click()
    approve = page.get_by_role("button", name="Approve: update 1 row in shop.jobs")
    await expect(approve).to_be_visible(timeout=30_000)


def test_there_are_snippets_for_curl_and_mcp() -> None:
    text = " ".join(code for _, code in SNIPPETS)
    assert "curl" in text
    assert "mcp.client" in text
    assert "findings" in text
    assert "writes" in text


def test_every_picture_is_there() -> None:
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", README)
    assert pictures
    for picture in pictures:
        assert (BASE_DIR / picture).is_file(), picture
