"""The people's plane as a browser without scripts uses it: cookies, and forms with their hidden fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

import httpx2

from tests.kills.doors import PATIENCE, Unknown


@dataclass
class Form:
    """A form of a page: where it is sent, what it carries, and its buttons."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)
    buttons: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Page:
    """A page that was answered."""

    status: int
    text: str
    forms: list[Form]

    def form(self, end: str) -> Form | None:
        """The form that is sent to an address with this end."""
        return next((form for form in self.forms if form.action.endswith(end)), None)


class Browser:
    """A person's session. Each of its methods raises Unknown where there is no clear answer."""

    def __init__(self, url: str, username: str, password: str) -> None:
        self.password = password
        self._username = username
        self._http = httpx2.Client(base_url=url, timeout=PATIENCE)

    def open(self, path: str) -> Page:
        """A page; the person signs in first where they must."""
        answer = self._send("GET", path, {})
        if answer.status_code == 302 and "/sign-in/" in answer.headers["location"]:
            self._sign_in()
            answer = self._send("GET", path, {})
        return _page(answer)

    def send(self, form: Form, **typed: str) -> Page:
        """Send a form with what was typed. A redirect says that it was done."""
        return _page(self._send("POST", form.action, {**form.fields, **typed}))

    def _sign_in(self) -> None:
        form = _page(self._send("GET", "/sign-in/", {})).form("")
        assert form is not None  # the page is one form
        done = self._send("POST", "/sign-in/", {**form.fields, "username": self._username, "password": self.password})
        if done.status_code != 302:
            raise Unknown(f"sign-in: {done.status_code}")

    def _send(self, method: str, path: str, data: dict[str, str]) -> httpx2.Response:
        try:
            answer = self._http.request(method, path, data=data or None)
        except httpx2.HTTPError as error:
            raise Unknown(f"{method} {path}: {error!r}") from error
        if answer.status_code >= 500:
            raise Unknown(f"{method} {path}: {answer.status_code}")
        return answer


def _page(answer: httpx2.Response) -> Page:
    reader = _Forms()
    reader.feed(answer.text)
    return Page(answer.status_code, answer.text, reader.forms)


class _Forms(HTMLParser):
    """Collects the forms of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(said.get("action", "")))
        elif self.forms and tag == "input" and said.get("type") == "hidden":
            self.forms[-1].fields[said["name"]] = said.get("value", "")
        elif self.forms and tag == "button" and "value" in said:
            self.forms[-1].buttons.add(said["value"])
