"""Texts that name an error by themselves. Where an incident does not say its own, a search for one of these is a search
for errors; a search for anything else may look for something that is never logged.
"""

from __future__ import annotations

import re

# Written out: what the C library of one machine knows must not decide elsewhere.
ERRNO = frozenset(
    ("EACCES", "EADDRINUSE", "EADDRNOTAVAIL", "EAGAIN", "ECONNABORTED", "ECONNREFUSED", "ECONNRESET", "EDEADLK",
     "EDQUOT", "EHOSTDOWN", "EHOSTUNREACH", "EINTR", "EIO", "EMFILE", "ENETDOWN", "ENETUNREACH", "ENFILE", "ENOBUFS",
     "ENOENT", "ENOMEM", "ENOSPC", "ENOTCONN", "EPERM", "EPIPE", "EROFS", "ESTALE", "ETIMEDOUT", "EAI_AGAIN",
     "ENOTFOUND")
)  # fmt: skip
_LEVELS = frozenset(
    ("ERROR", "Error", "error", "FATAL", "Fatal", "fatal", "CRITICAL", "SEVERE", "PANIC", "panic", "Exception",
     "exception", "Traceback", "[ERROR]", "[error]", "level=error", '"level":"error"')
)  # fmt: skip
_PHRASES = frozenset(
    ("timeout", "Timeout", "timed out", "Read timed out", "ReadTimeout", "ConnectTimeout", "TimeoutError", "deadlock",
     "deadlock detected", "broken pipe", "Broken pipe", "connection refused", "Connection refused", "connection reset",
     "Connection reset", "connection reset by peer", "Connection reset by peer", "connection timed out",
     "Connection timed out", "connection error", "no available connection", "too many connections", "could not connect",
     "no route to host", "No route to host", "no space left on device", "No space left on device", "out of memory",
     "OutOfMemoryError", "too many open files", "Too many open files", "raised", "raised unexpected")
)  # fmt: skip
# Celery, Sidekiq, GoodJob and their like write the id of a job and then one of these.
_OF_JOBS = frozenset(("raised", "raised unexpected", "fail", "failed", "FAILED", "FAILURE", "discarded", "dead"))
# Too particular to be every incident's error: each is one only where the incident speaks of it in the same words.
_WHEN_SAID = re.compile(
    r"OOMKilled|(?:HTTP )?[45]\d\d|[45]\d\d [A-Z][a-z]+(?: [A-Z][a-z]+){0,3}|x509: [a-z ]{4,60}|certificate has expired"
    r"|context deadline exceeded|exited with code \d{1,3}|[Pp]ermission denied|no such host|i/o timeout"
    r"|TLS handshake timeout|could not serialize access|disk full|SIGKILL|SIGSEGV|segmentation fault",
    re.ASCII,
)
# What a title may say without naming an error, and the words of errors of that kind. A deadlock is no lost connection.
_KINDS = tuple(
    (re.compile(told), re.compile(words))
    for told, words in (
        (r"connection (?:error|refused|reset|fail|lost|problem|timed)|connect error|(?:cannot|could not) connect|econn",
         r"connect|econn|ehost|enet|no route|pipe|etimedout"),
        (r"timed out|\btimeouts?\b|deadline exceeded", r"time[ds]? ?out|timeout|etimedout|deadline"),
        (r"deadlock|lock wait", r"deadlock|edeadlk|lock wait"),
        (r"out of memory|\boom|memory (?:error|exhausted|limit)", r"memory|oom|enomem"),
        (r"disk (?:full|error|space)|no space|space left", r"disk|space|enospc|edquot"),
        (r"too many open files|emfile", r"open files|emfile|enfile"),
        (r"permission denied|access denied|forbidden|unauthori[sz]ed",
         r"permission|denied|eacces|eperm|forbidden|unauth"),
        (r"certificate|x509|tls (?:error|handshake)|ssl error", r"certificate|x509|tls|ssl"),
        (r"\bhttp[ /]?5\d\d\b|\b5\d\d (?:bad|service|internal|gateway|error)|bad gateway|service unavailable|"
         r"internal server error", r"5\d\d|gateway|unavailable|internal server"),
        (r"rate.?limit|too many requests|\b429\b", r"rate.?limit|429|too many requests"),
        (r"\bdns\b|no such host|name resolution|resolve host|nxdomain",
         r"dns|no such host|resol|enotfound|eai_again|nxdomain"),
        (r"authenticat|login failed|invalid credentials|token expired|\b401\b",
         r"authenticat|login|credential|token|401|unauth"),
        (r"exit(?:ed with)? code|exit status|sigkill|was killed", r"exit|sig|kill|oom|memory"),
        (r"could not serialize|serialization failure", r"serializ"),
        (r"duplicate key|unique (?:constraint|violation)|integrity ?error", r"duplicate|unique|integrity"),
        (r"null ?pointer|nil:nilclass|undefined method|nonetype", r"null|nil|undefined|none"),
        (r"syntax error|parse error|invalid json|unexpected token", r"syntax|parse|json|token"),
        (r"\bpanic|segfault|segmentation fault", r"panic|segfault|sigsegv|segmentation"),
    )
)  # fmt: skip
_IDENTIFIER = re.compile(
    r"(?<![\w.:])(?:[A-Za-z_]\w*(?:::|\.))*(?:[A-Z]\w*(?:Error|Exception|Timeout|Refused|Failure)|E[A-Z_]{3,14})(?![\w.:]\w)",
    re.ASCII,
)
_EXCEPTION = re.compile(r"(?<!\w)[A-Z]\w*Exception(?!\w)", re.ASCII)  # no alert is called so
_JOINT = re.compile(r"::|\.")


def names_an_error(text: str) -> bool:
    """Whether a text is a known word for an error: a level, an errno, or a common phrase."""
    return text in _LEVELS or text in _PHRASES or text in ERRNO


def is_said_in(title: str, text: str) -> bool:
    """Whether a text is an error in words of its own, and the title has just these words."""
    return _WHEN_SAID.fullmatch(text) is not None and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", title) is not None


def is_of_another_kind(title: str, text: str) -> bool:
    """Whether a title tells of what kind the error was, such as connections, and a text is not of that kind."""
    told = [words for kind, words in _KINDS if kind.search(title.lower()) is not None]
    told += [re.compile(re.escape(name.lower())) for name in _EXCEPTION.findall(title)]
    return len(told) > 0 and all(words.search(text.lower()) is None for words in told)


def tells_of_failure(text: str) -> bool:
    """Whether a text that follows the id of a job in a line is what queues write whatever it failed of."""
    return text in _LEVELS or text in _OF_JOBS


def named_in(title: str) -> frozenset[str]:
    """The errors that a title names beyond doubt: an errno, or an identifier with its module, whole and its last part.

    Net::ReadTimeout names ReadTimeout too. CheckoutTimeout alone may be the name of an alert.
    """
    found = {name for name in _IDENTIFIER.findall(title) if name in ERRNO or _JOINT.search(name) is not None}
    return frozenset(found | {_JOINT.split(name)[-1] for name in found})


def perhaps_named_in(title: str) -> frozenset[str]:
    """The same, and identifiers without a module."""
    return named_in(title) | {name for name in _IDENTIFIER.findall(title) if not name.isupper()}
