"""Two admins at their browsers: one drafts each definition on its page, the other activates it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from html import unescape

import httpx2
from django.conf import settings

from audit import twohands
from audit.models import Definition
from evidence.models import MetricAsk
from gate.demo import definitions
from gate.demo.definitions import Wanted
from gate.triage.rule_models import OPEN, Flip, Job, Trial

TRIAL_WAIT = 60.0  # seconds for the trial worker to try a rule on the shop's cases
GOLDEN_WAIT = 60.0  # seconds for the reads worker to prove a source, and to run a metric's golden values


class PageRefused(Exception):
    """A page did not do what was asked of it; the text is what it said."""


class Browser:
    """A signed-in session on the people's plane."""

    def __init__(self, url: str, username: str, password: str) -> None:
        self._http = httpx2.Client(base_url=url, timeout=30)
        self._http.get("/sign-in/").raise_for_status()
        self.post("/sign-in/", username=username, password=password)

    def post(self, path: str, **fields: str | list[str]) -> None:
        """Send a form. Raises PageRefused when the page does not lead on."""
        token = self._http.cookies.get(settings.CSRF_COOKIE_NAME) or ""
        answer = self._http.post(path, data={**fields, "csrfmiddlewaretoken": token})
        if not answer.is_redirect:
            raise PageRefused(f"{path} answered {answer.status_code}: {_text_of(answer.text)}")

    def close(self) -> None:
        """End the connection; the session stays until it expires."""
        self._http.close()


def _text_of(page: str) -> str:
    main = page.partition("<main")[2] or page
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", main)).split())[:500]


def define_everything(url: str, passwords: Mapping[str, str]) -> None:
    """Bring every definition of the shop in force, drafted by mia and activated by jonas; those in force are left."""
    wanted = [one for one in definitions.everything() if not _is_active(one)]
    if not wanted:
        return
    mia, jonas = (Browser(url, name, passwords[name]) for name in ("mia", "jonas"))
    for one in wanted:
        version = _drafted(one) or _draft(mia, one)
        if one.plural == "rules":
            _earn(jonas, one.name, version)
        if one.plural == "metrics":
            _run_golden(jonas, one.name, version)
        jonas.post(f"/{one.plural}/{one.name}/versions/{version}/activation/")
    for browser in (mia, jonas):
        browser.close()


def _draft(browser: Browser, one: Wanted) -> int:
    body = json.dumps(one.body, indent=2)
    browser.post(f"/{one.plural}/new/", name=one.name, body=body, reason=one.reason)
    return Definition.objects.filter(kind=_kind(one), name=one.name).latest("version").version


def _earn(browser: Browser, name: str, version: int) -> None:
    """Have a rule version tried on the shop's cases, and sign what passes with it that nothing passed before.

    Raises PageRefused when the trial comes to no end.
    """
    at = f"/rules/{name}/versions/{version}"
    trial = _trial(name, version)
    if trial is None or trial.status not in OPEN:
        # Also after one that is done: it is left of an interrupted start, and the cases may be others since.
        browser.post(f"{at}/trials/")
    deadline = time.monotonic() + TRIAL_WAIT
    while (trial := _trial(name, version)) is None or trial.status != Job.DONE:
        if time.monotonic() > deadline or (trial is not None and trial.status not in OPEN):
            raise PageRefused(f"{at}/trials/ came to no end: {trial.why if trial is not None else 'nobody began it'}")
        time.sleep(0.1)
    flips = [str(flip.pk) for flip in trial.flips.filter(kind=Flip.Kind.FAIL_TO_PASS)]
    if flips:
        browser.post(
            f"{at}/signatures/", flips=flips, reason="The recorded case ended well, and its evidence shows it."
        )


def _run_golden(browser: Browser, name: str, version: int) -> None:
    """Have a metric's golden values run until they were read: its source is dark until its credential is proven.

    Raises PageRefused when that does not come about in time. Whether they hold, the activation says.
    """
    at = f"/metrics/{name}/versions/{version}/golden/"
    deadline = time.monotonic() + GOLDEN_WAIT
    while not _was_read(asked := _golden(name, version)):
        if time.monotonic() > deadline:
            raise PageRefused(f"{at} was not answered in {GOLDEN_WAIT:.0f} seconds.")
        if asked is None or asked.is_answered:
            browser.post(at)
        time.sleep(0.2)


def _was_read(asked: MetricAsk | None) -> bool:
    lines = asked.answer["golden"] if asked is not None and asked.answer is not None else []
    return bool(lines) and not any(line["problem"] for line in lines)


def _golden(name: str, version: int) -> MetricAsk | None:
    asked = MetricAsk.objects.filter(kind=MetricAsk.Kind.GOLDEN, version__kind="metric", version__name=name)
    return asked.filter(version__version=version).order_by("-pk").first()


def _trial(name: str, version: int) -> Trial | None:
    found = Trial.objects.filter(definition__kind="rule", definition__name=name, definition__version=version)
    return found.order_by("-pk").first()


def _drafted(one: Wanted) -> int | None:
    """The version that waits since an earlier start which was interrupted."""
    waiting = Definition.objects.filter(kind=_kind(one), name=one.name, status=Definition.Status.DRAFT)
    return waiting.values_list("version", flat=True).last()


def _is_active(one: Wanted) -> bool:
    return twohands.active(_kind(one), one.name) is not None


def _kind(one: Wanted) -> str:
    return next(kind.name for kind in twohands.KINDS.values() if kind.plural == one.plural)
