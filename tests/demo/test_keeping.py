"""The file with the demo's passwords: whole or not there, and its owner's alone."""

import json

import pytest

from gate.demo import keeping


@pytest.fixture(autouse=True)
def var(tmp_path, monkeypatch):
    monkeypatch.setenv("COUNTERSEAL_VAR", str(tmp_path))
    return tmp_path


def test_nothing_is_kept_before_the_first_start():
    assert keeping.load() == {}


def test_a_demo_that_is_being_made_is_kept_beside_the_complete_file():
    keeping.keep({"people": {"ada": "secret"}})
    assert not keeping.path().exists()
    assert keeping.load() == {"people": {"ada": "secret"}}


def test_the_complete_file_replaces_the_unfinished_one(var):
    keeping.keep({"people": {"ada": "secret"}, "incidents": [1]})
    keeping.finish({"people": {"ada": "secret"}})
    assert json.loads((var / "demo.json").read_text()) == {"people": {"ada": "secret"}}
    assert [file.name for file in var.iterdir()] == ["demo.json"]


def test_only_the_owner_of_the_files_reads_them():
    keeping.keep({})
    assert keeping.draft_path().stat().st_mode & 0o777 == 0o600
    keeping.finish({})
    keeping.finish({})
    assert keeping.path().stat().st_mode & 0o777 == 0o600


def test_a_demo_that_is_made_anew_does_away_with_the_older_file():
    keeping.finish({"people": {"ada": "older"}})
    keeping.keep({"people": {"ada": "newer"}})
    assert not keeping.is_complete()
    assert keeping.load() == {"people": {"ada": "newer"}}
