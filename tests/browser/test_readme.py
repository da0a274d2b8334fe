"""The README's tested snippets, run as they stand against a running product."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gate.config.environment import BASE_DIR
from tests.browser.conftest import Product, intake_token

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
    assert any(word in done.stdout for word in ("find_job", "nvestigation", "received", "waiting")), done.stdout


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
