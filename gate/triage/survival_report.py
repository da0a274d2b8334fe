"""A run's page as one file to send on: nothing is loaded with it, and nothing in it runs."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone

from gate.triage.survival_pages import SurvivalPage

SHEETS = ("tokens.css", "app.css")
PLACE = "<style></style>"


def document(page: SurvivalPage) -> str:
    """The whole file. Its policy allows its own style sheet, by its hash, and nothing else."""
    style = _style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    # Frames cannot be forbidden from inside a file; there is nothing to press in it.
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    text = render_to_string("gate/survival_report.html", {"page": page, "policy": policy, "made_at": timezone.now()})
    # The first place of that name stands in the head, before any word of an agent's, which would be escaped besides.
    return text.replace(PLACE, f"<style>{style}</style>", 1)


@cache
def _style() -> str:
    folder = Path(settings.BASE_DIR) / "static/css"
    return "\n".join((folder / name).read_text() for name in SHEETS)
