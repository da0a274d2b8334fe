"""What every template keeps to, and that nothing of the look is left over."""

import re
from collections.abc import Iterator
from pathlib import Path

from gate.config.environment import BASE_DIR

TEMPLATES = sorted((BASE_DIR / "templates").rglob("*.html"))
PACKAGES = ("audit", "evidence", "gate")
PYTHON = "\n".join(file.read_text() for name in PACKAGES for file in (BASE_DIR / name).rglob("*.py"))
HTML = "\n".join(file.read_text() for file in TEMPLATES)
SCRIPTS = "\n".join(file.read_text() for file in (BASE_DIR / "static/js").glob("*.js"))
CSS = "\n".join(
    re.sub(r"/\*.*?\*/", "", (BASE_DIR / "static/css" / name).read_text(), flags=re.DOTALL)
    for name in ("tokens.css", "app.css")
)
TIME_OF_DAY = re.compile(
    r'moment [\w.]+ "(?P<moment>[^"]*%H[^"]*)"|\|date:"(?P<date>[^"]*H:i[^"]*)"(?P<after>[^<]{0,40})'
)
# A column whose head names the zone, and an axis that does.
SAID_ABOVE = {"audit/_rows.html", "audit/starts.html", "audit/health.html"}
DJANGOS_OWN = re.compile(r"\d{3}\.html")  # found by their name


def named(file: Path) -> str:
    return str(file.relative_to(BASE_DIR / "templates"))


def times_of_day(text: str) -> Iterator[tuple[str, bool]]:
    """Every format that shows a time of day, and whether it says the zone."""
    for found in TIME_OF_DAY.finditer(text):
        form = found["moment"] or found["date"]
        yield form, "%Z" in form or form.endswith(" T") or "UTC" in (found["after"] or "")


def test_a_time_of_day_is_shown_with_its_zone() -> None:
    zoneless = {
        named(file): [form for form, says_zone in times_of_day(file.read_text()) if not says_zone] for file in TEMPLATES
    }
    assert {name for name, forms in zoneless.items() if forms} <= SAID_ABOVE


def test_every_template_is_shown_by_something() -> None:
    unused = [name for name in map(named, TEMPLATES) if name not in HTML + PYTHON and not DJANGOS_OWN.fullmatch(name)]
    assert unused == []


def test_no_rule_of_the_css_is_left_over() -> None:
    selectors = re.sub(r"\{[^{}]*\}", "{}", CSS)
    words = set(re.findall(r"[A-Za-z][\w-]*", HTML + PYTHON + SCRIPTS))
    stems = tuple(re.findall(r"([a-z][\w-]*-)\{[{%]", HTML))  # is-{{ state }}
    classes = set(re.findall(r"\.([a-z][\w-]*)", selectors))
    assert sorted(name for name in classes - words if not name.startswith(stems)) == []


def test_no_token_is_left_over() -> None:
    tokens = set(re.findall(r"(?<![\w-])(--[a-z0-9-]+)\s*:", re.sub(r"[^{};]*\{", "{", CSS)))
    assert sorted(token for token in tokens if f"var({token})" not in CSS and f"var({token}," not in CSS) == []
