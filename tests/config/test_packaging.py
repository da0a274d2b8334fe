"""What we depend on: the same pins everywhere, licenses that we may pass on, and no address of a registry."""

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;]+)", re.MULTILINE)
NAME = re.compile(r"^[A-Za-z0-9._-]+")

PERMISSIVE = re.compile(
    r"\b(MIT|MIT-0|BSD|BSD[ -][23][ -]Clause|[23]-Clause BSD|New BSD|Apache|Apache[- ]2\.0|PSF-2\.0|ISC|LGPL-3\.0-only|"
    r"Dual License)\b",
    re.IGNORECASE,
)
# Run for testing and shipped to nobody; named one by one, so that a new one is a decision.
WEAK_COPYLEFT_IN_DEVELOPMENT = {
    "certifi": "MPL-2.0, needed by schemathesis and django-allauth through requests",
    "evidenceflow": "MPL-2.0",
    "fido2": "BSD-2-Clause; the public suffix list that it carries is MPL-2.0",
    "hypothesis": "MPL-2.0",
    "pathspec": "MPL-2.0, needed by mypy",
}
# Installed by whoever wants sign-in through a provider, and by nobody else: django-allauth talks to it with requests,
# and that reads its list of certificate authorities from certifi.
WEAK_COPYLEFT_ON_REQUEST = {"certifi": "MPL-2.0, a list of certificates that we do not change"}
# Their metadata name no license; the file LICENSE in each says MIT or Apache-2.0.
PERMISSIVE_BY_ITS_FILE = {"axe-playwright-python", "cel-python"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(text: str) -> dict[str, str]:
    return {normal(name): version for name, version in PIN.findall(text)}


def project() -> dict[str, list[str]]:
    parsed = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return {
        "requirements.txt": parsed["project"]["dependencies"],
        "oidc": parsed["project"]["optional-dependencies"]["oidc"],
        "dev": parsed["dependency-groups"]["dev"],
    }


def requirements(name: str) -> str:
    return (ROOT / name).read_text()


def test_every_dependency_is_pinned_exactly() -> None:
    for wanted in project().values():
        assert [one for one in wanted if not PIN.match(one)] == []


def test_the_requirements_files_pin_what_the_project_pins() -> None:
    runtime = pins("\n".join(project()["requirements.txt"]))
    everything = runtime | pins("\n".join(project()["dev"]))
    assert runtime.items() <= pins(requirements("requirements.txt")).items()
    assert everything.items() <= pins(requirements("requirements-dev.txt")).items()
    assert pins(requirements("requirements.txt")).items() <= pins(requirements("requirements-dev.txt")).items()
    on_request = pins("\n".join(project()["oidc"])) | pins(requirements("requirements.txt"))
    assert on_request.items() <= pins(requirements("requirements-oidc.txt")).items()
    assert pins(requirements("requirements-oidc.txt")).items() <= pins(requirements("requirements-dev.txt")).items()


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-oidc.txt", "requirements-dev.txt"])
def test_every_requirement_has_hashes(name: str) -> None:
    blocks = re.split(r"\n(?=[A-Za-z0-9])", requirements(name))
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


def licenses(name: str) -> str:
    about = metadata.metadata(name)
    classifiers = [one for one in about.get_all("Classifier") or [] if one.startswith("License ::")]
    first_line = (about.get("License") or "").strip().partition("\n")[0]
    return " ".join([about.get("License-Expression") or "", first_line, *classifiers])


def installed(requirements_file: str) -> Iterator[str]:
    for name in pins(requirements(requirements_file)):
        try:
            metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # for another platform
        yield name


def is_free(name: str) -> bool:
    text = licenses(name)
    forbidden = re.search(r"(?<!L)(?<!Lesser )\bA?GPL|General Public License|MPL|Mozilla|EUPL|SSPL|BUSL", text)
    return name in PERMISSIVE_BY_ITS_FILE or (bool(PERMISSIVE.search(text)) and not (forbidden and "LGPL" not in text))


def test_what_we_ship_is_permissive_or_lgpl() -> None:
    assert {name: licenses(name) for name in installed("requirements.txt") if not is_free(name)} == {}


def test_a_sign_in_provider_adds_only_the_named_exception() -> None:
    found = {name for name in installed("requirements-oidc.txt") if not is_free(name)}
    assert found == WEAK_COPYLEFT_ON_REQUEST.keys()


def test_without_a_sign_in_provider_there_is_nothing_of_it() -> None:
    assert not {"django-allauth", "requests", "certifi"} & pins(requirements("requirements.txt")).keys()


def test_development_adds_only_the_named_exceptions() -> None:
    found = {name for name in installed("requirements-dev.txt") if not is_free(name)}
    assert found == WEAK_COPYLEFT_IN_DEVELOPMENT.keys()


def test_the_license_rule_refuses_copyleft(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (
        "GPL-3.0-or-later",
        "AGPL-3.0-only",
        "MPL-2.0",
        "License :: OSI Approved :: GNU General Public License v3",
    ):
        monkeypatch.setattr(f"{__name__}.licenses", lambda name, text=text: text)
        assert not is_free("anything"), text


def text_files() -> Iterator[Path]:
    skipped = {".git", ".venv", "var", "uv.lock", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
    for found in ROOT.rglob("*"):
        if found.is_file() and not skipped & set(found.relative_to(ROOT).parts):
            yield found


def test_no_file_names_a_package_registry() -> None:
    # Written in halves, or this file would name them.
    hosts = ["pypi" + ".org", "python" + "hosted", "npmjs" + ".", "crates" + ".io", "proxy.golang" + ".org"]
    hosts += ["js" + "delivr", "un" + "pkg.com", "cdn" + "js."]
    naming = [
        str(found.relative_to(ROOT))
        for found in text_files()
        if any(host in found.read_text(errors="replace") for host in hosts)
    ]
    assert naming == []


def test_the_license_is_apache() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License\n                           Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
