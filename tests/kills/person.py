"""Somebody on call: she previews and decides what is proposed, and reviews drafts."""

from __future__ import annotations

import re
import time

from tests.kills.diary import Act, Diary, Proposal
from tests.kills.doors import Unknown
from tests.kills.pace import Pace, dice
from tests.kills.pages import Browser, Form, Page
from tests.kills.product import Product

USERNAME = "ada"
PREVIEW_WAIT = 150.0  # seconds; a preview that was lost can be asked for again after two minutes
MOST_PREVIEWS = 3
TRIES = 8


class Person:
    """One person with her session. `live` does one round of work."""

    def __init__(self, product: Product, diary: Diary, pace: Pace, seed: str) -> None:
        self._browser = Browser(product.people, USERNAME, product.passwords[USERNAME])
        self._diary, self._pace, self._random = diary, pace, dice(seed)
        self._reviews = 0

    def live(self) -> None:
        """Decide about one write, and review one draft now and then."""
        open_writes = self._diary.undecided()
        if open_writes:
            self._decide(self._random.choice(open_writes))
        if self._random.random() < 0.6:
            self._review_one()
        self._pace.pause(self._random.uniform(0.5, 2.5))

    def _decide(self, proposal: Proposal) -> None:
        path = f"/writes/{proposal.number}/"
        page = self._previewed(path)
        form = page.form("/decision/") if page else None
        if form is None or self._random.random() < 0.15:  # she looked, and comes back to it later
            return
        act = "approve" if "approve" in form.buttons and self._random.random() < 0.9 else "reject"
        reason = f"{act} {proposal.title}: as previewed."
        typed = {"decision": act, "reason": reason, "password": self._browser.password if act == "approve" else ""}
        if self._is_done("decide", path, form, typed):
            self._diary.decisions[proposal.number] = Act(act, reason)

    def _previewed(self, path: str) -> Page | None:
        """The page once the write can be approved. None when that did not come about."""
        deadline, asked = time.monotonic() + PREVIEW_WAIT, 0
        while time.monotonic() < deadline and not self._pace.is_over:
            page = self._look("preview", path)
            form, ask = (page.form("/decision/"), page.form("/preview/")) if page else (None, None)
            if page is None or (form and "approve" in form.buttons) or asked == MOST_PREVIEWS:
                return page
            if ask is not None:
                asked += 1
                self._send("preview", ask, {})
            self._pace.pause(0.5)
        return None

    def _review_one(self) -> None:
        inbox = self._look("inbox", "/inbox/")
        drafts = sorted({int(number) for number in re.findall(r"/drafts/(\d+)/", inbox.text)}) if inbox else []
        if not drafts:
            return
        number = self._random.choice(drafts)
        path = f"/drafts/{number}/"
        page = self._look("review", path)
        form = page.form("/review/") if page else None
        if form is None:
            return
        self._reviews += 1
        act = self._random.choice(["agree", "agree", "overrule"])
        reason = f"{act} with review {self._reviews} of this run."
        if self._is_done("review", path, form, {"act": act, "reason": reason}):
            self._diary.reviews[number] = Act(act, reason)

    def _is_done(self, what: str, path: str, form: Form, typed: dict[str, str]) -> bool:
        """Send a decision. Whether it is known to be recorded: a redirect says so, or the page that is looked at."""
        self._diary.acts.update([what])
        answer = self._send(what, form, typed)
        if answer is not None and answer.status == 302:
            return True
        page = self._look(what, path)
        return page is not None and f"“{typed['reason']}”" in page.text

    def _send(self, what: str, form: Form, typed: dict[str, str]) -> Page | None:
        try:
            return self._browser.send(form, **typed)
        except Unknown as doubt:
            self._doubt(what, doubt)
            return None

    def _look(self, what: str, path: str) -> Page | None:
        """A page, asked for until it is there; None when patience ends first."""
        for _ in range(TRIES):
            try:
                page = self._browser.open(path)
            except Unknown as doubt:
                self._doubt(what, doubt)
                continue
            if page.status == 200:
                return page
            self._diary.found(f"{path} answered {page.status}.")
            return None
        return None

    def _doubt(self, what: str, doubt: Unknown) -> None:
        self._diary.could_not_tell(what, str(doubt))
        self._pace.pause(self._random.uniform(0.3, 1.0))
