import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import payloads, tokens
from audit.masking import PATTERNS, mask

TOKEN = tokens.draw("csa")[0]
INTAKE = tokens.draw("csi")[0]
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Authorization: Bearer {TOKEN}", "Authorization: [masked: bearer token]"),
        (f"my token is {TOKEN}.", "my token is [masked: Counterseal token]."),
        (INTAKE, "[masked: Counterseal token]"),
        (f"before {KEY} after", "before [masked: private key] after"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE", "[masked: private key]"),
        ("AKIAIOSFODNN7EXAMPLE", "[masked: AWS key]"),
        ("postgresql://app:s3cret@db/shop", "postgresql://app:[masked: password]@db/shop"),
        ("host=db password=s3cret dbname=shop", "host=db password=[masked: password] dbname=shop"),
        ("aws_secret_access_key = wJalrXUtn/EMI", "aws_secret_access_key = [masked: password]"),
        ('{"password": "two words", "job": 1}', '{"password": [masked: password], "job": 1}'),
        ("{'password': 'two words'}", "{'password': [masked: password]}"),
        (r"{\"api_key\": \"abc\"}", r"{\"api_key\": [masked: password]}"),
        ("curl -d access_token=abc&job=1", "curl -d access_token=[masked: password]&job=1"),
        (f"cookie {JWT}", "cookie [masked: signed token]"),
        ("sk_live_" + "a1" * 12, "[masked: service token]"),
        ("ID_AKIAIOSFODNN7EXAMPLE_x", "ID_[masked: AWS key]_x"),
        ("id=ABIAIOSFODNN7EXAMPLE", "id=[masked: AWS key]"),
        *[
            (f"at {start}{'a1B2' * 12} end", "at [masked: service token] end")
            for start in (
                "github_pat_",
                "glpat-",
                "sk-ant-api03-",
                "sk-proj-",
                "npm_",
                "pypi-",
                "whsec_",
                "rk_test_",
                "dop_v1_",
                "shpat_",
                "hvs.",
                "ya29.",
                "xapp-1-",
            )
        ],
        (f"AIza{'Sy-_1' * 7}", "[masked: service token]"),
        (f"SG.{'a' * 22}.{'b' * 43}", "[masked: service token]"),
        ("GET / Authorization: Basic dXNlcjpwYXNz", "GET / Authorization: Basic [masked: authorization]"),
        (r"{\"Authorization\": \"Token abcdef\"}", r"{\"Authorization\": \"Token [masked: authorization]\"}"),
        ("Set-Cookie: session=abc; Path=/\nHost: x", "Set-Cookie: [masked: cookie]\nHost: x"),
        ("AccountName=a;AccountKey=abc==;x=1", "AccountName=a;AccountKey=[masked: password];x=1"),
    ],
    ids=lambda text: f"{len(text)} characters",  # tokens are drawn anew, and a test's name must not be
)
def test_a_secret_in_text_is_masked_by_its_looks(text, expected) -> None:
    assert mask(text) == expected
    assert mask([{"deep": [text]}]) == [{"deep": [expected]}]


@pytest.mark.parametrize(
    "name", ["password", "db_password", "accessToken", "access_token", "API-Key", "client_secret", "Authorization"]
)
@pytest.mark.parametrize("value", ["hunter2", 1234, {"any": "thing"}, ["a"]])
def test_a_value_is_masked_by_its_name(name, value) -> None:
    (masked,) = mask({name: value}).values()
    assert masked.startswith("[masked: ")


@pytest.mark.parametrize(
    "value",
    [
        {"job_id": 90412, "error": "ReadTimeout", "from": "2026-11-29T02:15:34Z"},
        {"token_count": 12, "max_tokens": 40, "password": None, "has_secret": True, "broken": "x", "secret": ""},
        "https://shop.example/jobs/90412?page=2",
        "the bearer of bad news",
        "the task-force-of-risk-assessment-was-basic: npm_install failed, SG.1 is up, authorization: none, cookie jar",
        "A-48213",
    ],
)
def test_ordinary_arguments_stay_as_they_are(value) -> None:
    assert mask(value) == value


def test_the_argument_itself_is_not_changed() -> None:
    value = {"password": "x", "list": ["Bearer abcdefghijkl"]}
    before = copy.deepcopy(value)
    mask(value)
    assert value == before


@given(st.recursive(st.none() | st.integers() | st.text(), lambda i: st.lists(i) | st.dictionaries(st.text(), i)))
def test_what_is_masked_can_be_recorded(value) -> None:
    payloads.pack(mask(value))


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "part",
    ["-eyJ", "a:", "http://", "-----BEGIN PRIVATE KEY-----", "bearer ", "password ", "a.b+", 'password="', 'pwd\\"='],
)
def test_a_hostile_text_costs_no_more(part) -> None:
    mask(part * (250_000 // len(part)))


@given(st.data(), st.sampled_from(PATTERNS))
def test_whatever_looks_like_a_secret_has_the_hint_that_it_is_looked_for_by(data, one) -> None:
    _, hints, pattern = one
    folded = data.draw(st.from_regex(pattern)).casefold()
    assert any(hint in folded for hint in hints)
