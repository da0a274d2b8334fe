"""Where the recorded answers come from: SOURCES.md names every source with its license, and each kind has real ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.evidence.kinds import recorded

KINDS = ("cloudwatch", "elasticsearch", "kubernetes", "loki", "prometheus")
LICENSES = {"Apache-2.0", "BSD-2-Clause", "CC-BY-4.0", "MIT", "facts only"}
WAYS = {"recorded", "fixture", "documentation", "issue", "incident"}
KEYS = {"name", "source", "license", "how", "request", "incomplete", "answer"}
MOST_BYTES = 60_000


def _told() -> Iterator[tuple[str, ...]]:
    """The rows of the table on kinds/: file, source, license, how."""
    section = (recorded.DATA.parent / "SOURCES.md").read_text().partition("\n## kinds/\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    for row in rows:
        file, repository, path, license_, how = (cell.strip().strip("`") for cell in row.strip("|").split("|"))
        yield file, f"{repository}, {path}" if path else repository, license_, how


def _held(kind: str) -> set[tuple[str, ...]]:
    return {(f"{kind}.json", one["source"], one["license"], one["how"]) for one in recorded.records(kind)}


def test_every_file_is_of_a_kind_that_is_tried_here() -> None:
    assert sorted(path.name for path in recorded.DATA.iterdir()) == sorted(f"{kind}.json" for kind in KINDS)


def test_the_table_names_each_source_once_and_no_other() -> None:
    told = Counter(_told())
    assert set(told) == set().union(*(_held(kind) for kind in KINDS))
    assert set(told.values()) == {1}


@pytest.mark.parametrize("kind", KINDS)
def test_an_entry_says_what_it_is(kind: str) -> None:
    entries = recorded.records(kind)
    assert len({one["name"] for one in entries}) == len(entries)
    for one in entries:
        assert set(one) - {"changed", "operation"} == KEYS
        assert one["how"] in WAYS
        assert one["license"] in LICENSES
        assert (one["how"] == "issue") == (one["license"] == "facts only")
    assert (recorded.DATA / f"{kind}.json").stat().st_size < MOST_BYTES


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_real_answers_both_whole_and_not(kind: str) -> None:
    whole = {not one["incomplete"] for one in recorded.records(kind) if one["how"] == "recorded"}
    assert whole == {True, False}
