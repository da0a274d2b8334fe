"""The sign-in provider that the environment names, read strictly."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from gate.config import oidc


def test_it_is_all_three_variables_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in oidc.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert oidc.configured() is None
    monkeypatch.setenv(oidc.URL, "https://login.example.org/")
    monkeypatch.setenv(oidc.CLIENT_ID, "counterseal")
    with pytest.raises(ImproperlyConfigured, match="or none of them"):
        oidc.configured()
    monkeypatch.setenv(oidc.CLIENT_SECRET, "s3cret")
    found = oidc.configured()
    assert found is not None
    assert (found.url, found.name) == ("https://login.example.org", "login.example.org")
    assert "s3cret" not in repr(found)
    monkeypatch.setattr(oidc, "find_spec", lambda name: None)
    with pytest.raises(ImproperlyConfigured, match=r"requirements-oidc\.txt"):
        oidc.configured()


@pytest.mark.parametrize(
    "url",
    [
        "http://login.example.org", "login.example.org", "https://", "https://a:b@login.example.org",
        "https://login.example.org?x=1", "https://login.example.org#x", "https://login.example.org:99999",
        "https://login.example.org/.well-known/openid-configuration", "https://login.example.org\n",
    ],
)  # fmt: skip
def test_an_issuer_is_a_plain_https_address(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    for name, value in zip(oidc.VARIABLES, (url, "counterseal", "secret"), strict=True):
        monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match="COUNTERSEAL_OIDC_URL cannot be used"):
        oidc.configured()
