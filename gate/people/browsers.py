"""What a browser calls itself, in the words that its user knows."""

from __future__ import annotations

# In this order: most browsers also claim to be those further down.
BROWSERS = (
    ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"), ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"), ("CriOS/", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
)  # fmt: skip
SYSTEMS = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"), ("Linux", "Linux"),
)  # fmt: skip


def in_words(user_agent: str) -> str:
    """Such as "Firefox on Linux"; what is no known browser is named as it names itself."""
    browser, system = _first(BROWSERS, user_agent), _first(SYSTEMS, user_agent)
    if not browser:
        return user_agent or "a browser that says no name"
    return f"{browser} on {system}" if system else browser


def _first(known: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for mark, name in known if mark in user_agent), "")
