"""Secrets in what others wrote are masked before anything is hashed or kept; a marker says where one stood."""

from __future__ import annotations

import re
from typing import Any

# What a secret is called: the last word of a key decides, so that token_count is no secret and access_token is.
NAMES = re.compile(
    r"(?:^|[_\-. ]|(?<=[a-z0-9])(?=[A-Z]))"
    r"((?i:password|passwd|pwd|passphrase|secret|token|authorization|cookie|credentials?"
    r"|(?:api|private|access|secret)[_\-. ]?key))$",
)
# What a secret looks like, with what stands in every such text, case folded: most texts are looked through by that
# alone. Repetitions are bounded or start once per word: a hostile text must not cost more.
PATTERNS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    (
        "private key",
        ("private key",),
        re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)", re.S),
    ),
    ("bearer token", ("bearer",), re.compile(r"\bbearer\s{1,4}[\w\-.~+/]{8,}={0,2}", re.I)),
    ("Counterseal token", ("csa_", "csi_", "csp_"), re.compile(r"\bcs[aip]_[\w-]{20,}")),
    ("AWS key", ("akia", "asia", "abia"), re.compile(r"(?<![0-9A-Za-z])A(?:KI|SI|BI)A[0-9A-Z]{16}(?![0-9A-Za-z])")),
    ("signed token", ("eyj",), re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*")),
    (
        "service token",
        (
            "ghp_",
            "gho_",
            "ghu_",
            "ghs_",
            "ghr_",
            "xox",
            "k_live_",
            "k_test_",
            "github_pat_",
            "glpat-",
            "sk-",
            "npm_",
            "pypi-",
            "whsec_",
            "dop_v1_",
            "shpat_",
            "hvs.",
            "ya29.",
            "xapp-",
            "aiza",
            "sg.",
        ),
        re.compile(
            r"(?<![A-Za-z0-9])(?:gh[pousr]_\w{30,}|xox[abeprs]-[\w-]{10,}|[sr]k_(?:live|test)_\w{16,}"
            r"|github_pat_\w{22,}|glpat-[\w-]{20,}|sk-(?=[\w-]{0,200}\d)[\w-]{24,}|npm_\w{36,}|pypi-[\w-]{40,}"
            r"|whsec_[\w+/=-]{24,}|dop_v1_\w{40,}|shpat_\w{32,}|hvs\.[\w-]{24,}|ya29\.[\w-]{24,}|xapp-\d-[\w-]{20,}"
            r"|AIza[\w-]{35}|SG\.[\w-]{16,}\.[\w-]{16,})"
        ),
    ),
    (
        "authorization",
        ("authorization",),
        re.compile(
            r"(?P<keep>authorization[\\\"']{0,2}\s{0,4}[=:]\s{0,4}[\\\"']{0,2}"
            r"(?:basic|digest|token|apikey|negotiate|aws4-hmac-sha256)\s{1,4})[^\s\"';\\]+",
            re.I,
        ),
    ),
    ("cookie", ("cookie",), re.compile(r"(?P<keep>\b(?:set-)?cookie:\s{0,4})[^\s\[][^\r\n\"]*", re.I)),
    (
        "password",
        ("://",),
        re.compile(r"(?P<keep>\b[a-z][a-z0-9+.\-]{0,20}://[^\s:/@]{0,80}:)[^\s@/]{1,200}(?=@)", re.I),
    ),
    (
        "password",
        ("pass", "pwd", "secret", "key", "token"),
        re.compile(
            # Also where it stands in JSON or Python that is text itself: "password": "…", \\"password\\": \\"…\\".
            r"(?P<keep>(?:password|passwd|pwd|passphrase|secret|secret_access_key|(?:api|account)_?key|access_?token)"
            r"[\\\"']{0,2}\s{0,4}[=:]\s{0,4})(?:\\?\"[^\"]*\"?|'[^']*'?|[^\s,;&]+)",
            re.I,
        ),
    ),
)
_HINTS = tuple(hint for _, hints, _ in PATTERNS for hint in hints)


def mask(value: Any) -> Any:
    """`value` with its secrets replaced by markers like "[masked: bearer token]". The argument is not changed."""
    if isinstance(value, dict):
        return {_text(key): _named(str(key), child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [mask(child) for child in value]
    return _text(value)


def _named(key: str, value: Any) -> Any:
    """A value under a secret's name is masked whole, whatever it is; that it is empty or absent is no secret."""
    found = NAMES.search(key)
    if found is None or value is None or value == "" or isinstance(value, bool):
        return mask(value)
    return f"[masked: {found[1].lower()}]"


def _text(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    folded = value.casefold()  # as patterns that ignore case see it: theirs is not lower() for every letter
    for hint in _HINTS:  # each text of each entry passes here, so no generator
        if hint in folded:
            return _masked(value, folded)
    return value


def _masked(value: str, folded: str) -> str:
    for name, hints, pattern in PATTERNS:
        if any(hint in folded for hint in hints):
            value = pattern.sub(rf"\g<keep>[masked: {name}]" if pattern.groups else f"[masked: {name}]", value)
    return value
