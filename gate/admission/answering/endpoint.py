"""Where the answering model is, as the environment of the process that asks it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from gate.config.environment import HERE

Kind = Literal["openai", "anthropic"]
KINDS: tuple[Kind, ...] = get_args(Kind)
NO_KEY = "none"  # a server of one's own may want none, and the clients want a text


@dataclass(frozen=True)
class Endpoint:
    """One model behind one address, and in which protocol it is spoken to."""

    kind: Kind
    url: str
    model: str
    key: str
    proxy: str  # none from the environment: only the one that is named

    def __repr__(self) -> str:
        """Without its key: what is shown somewhere by accident is not a secret."""
        return f"Endpoint({self.kind}, {self.url}, {self.model})"


def configured() -> Endpoint | None:
    """The model to ask; None when none is named. Raises ImproperlyConfigured with a sentence for half of one."""
    given = (settings.ANSWERING_URL, settings.ANSWERING_MODEL, settings.ANSWERING_KEY, settings.ANSWERING_PROXY)
    if not any(given):
        return None
    if settings.ANSWERING_KIND not in KINDS:
        raise ImproperlyConfigured(f"COUNTERSEAL_ANSWERING_KIND is one of {', '.join(KINDS)}.")
    if not settings.ANSWERING_URL or not settings.ANSWERING_MODEL:
        raise ImproperlyConfigured(
            "An answering model needs COUNTERSEAL_ANSWERING_URL and COUNTERSEAL_ANSWERING_MODEL; set both, or none."
        )
    _check_url(settings.ANSWERING_URL)
    return Endpoint(
        settings.ANSWERING_KIND, settings.ANSWERING_URL, settings.ANSWERING_MODEL,
        settings.ANSWERING_KEY or NO_KEY, settings.ANSWERING_PROXY,
    )  # fmt: skip


def _check_url(url: str) -> None:
    """The key and what agents are about to do go there, so only encrypted ones will do, or this machine."""
    parts = urlsplit(url)
    is_near = parts.scheme == "http" and parts.hostname in HERE
    if not parts.hostname or not (parts.scheme == "https" or is_near) or parts.username or parts.query:
        raise ImproperlyConfigured(
            "COUNTERSEAL_ANSWERING_URL is an https address, or http on this machine, without a name, a password or a "
            "query in it."
        )
