"""Whether an answer of any HTTP API is all that there is, by the rules that its contract states.

A contract states at least one, for an answer that says nothing of itself shows nothing. Each is an object of one key:

    {"false": "/has_more"}              there, and literally false
    {"blank": "/next_token"}            not there, null or an empty text
    {"equals": ["/status", "complete"]}  there, and this very text
    {"counted": ["/items", "/total"]}   a list as long as the number says
    {"below": ["/items", "limit"]}      a list shorter than this parameter as it was sent
    {"positive": "/scanned"}            a whole number above 0: something was looked at
    {"single": "/charge"}               an object without any list in it, so that none of it can be cut
    {"unpaged": "why"}                  the API gives all at once, as whoever signs the contract has read

Besides, whatever the contract states, the marks of paging that many APIs share are looked for in headers and answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from evidence.kinds.http import encoding, pointers
from evidence.kinds.http.pointers import ABSENT

MOST_RULES = 10
LONGEST_WHY = 300
LONGEST_LINK = 4_000  # characters
# RFC 8288: a parameter of a link, in quotes or without.
PAGES = re.compile(r";\s*rel\s*=\s*(?:\"[^\"]*\b(?:next|prev|previous)\b[^\"]*\"|(?:next|prev|previous)\b)", re.I)
# Objects beside the data that hold the marks.
AROUND = (
    "meta", "metadata", "_meta", "pagination", "paging", "page", "page_info", "pageInfo", "links", "_links",
    "response_metadata", "cursor",
)  # fmt: skip
# Each rule that may be broken has a code of its own; "unpaged" is a promise, and no answer breaks it.
CODES: Mapping[str, str] = {
    "link_pages": "A header names a further page.",
    "page_header": "A header says that there are further pages.",
    "marked": "The answer bears a mark of paging, or of having been cut.",
    "not_false": "A mark that the tool's contract asks to be false is not.",
    "not_blank": "A place that the tool's contract asks to be empty holds something.",
    "not_equals": "A text is another than the one that the tool's contract asks for.",
    "not_counted": "A list is not as long as the answer itself says.",
    "not_below": "A list is as long as it may be.",
    "not_positive": "The answer does not say that anything was looked at.",
    "not_single": "The answer holds lists, of which a part may be missing.",
}
FLAGS = (
    "has_more", "hasMore", "hasNextPage", "has_next_page", "has_next", "hasNext", "has_previous", "hasPrevious",
    "hasPreviousPage", "truncated", "isTruncated", "is_truncated", "incomplete_results", "timed_out", "timedOut",
    "is_partial", "isPartial",
)  # fmt: skip
TOKENS = (
    "next", "previous", "prev", "next_page", "nextPage", "next_page_token", "nextPageToken", "next_token", "nextToken",
    "NextToken", "next_cursor", "nextCursor", "next_url", "nextLink", "@odata.nextLink", "continuationToken",
    "continuation_token",
)  # fmt: skip
Sent = Mapping[str, Any]
Rule = Callable[[Any, Any, Sent], bool]


def incomplete(rules: list[dict[str, Any]], sent: Sent, headers: Mapping[str, str], answer: Any) -> tuple[str, ...]:
    """Why the answer is not whole, as codes: `link_pages`, `page_header`, `marked`, and the names of broken rules.

    `sent` holds the parameters of the query as they were sent.
    """
    found = [*_in_headers(headers), *_marks(answer)]
    found += [f"not_{name}" for rule in rules for name, said in rule.items() if not RULES[name](answer, said, sent)]
    return tuple(dict.fromkeys(found))


def check(rules: Any, parameters: Mapping[str, Any]) -> None:
    """Raise ValueError with a sentence unless these are rules that can be applied."""
    if not isinstance(rules, list) or not 0 < len(rules) <= MOST_RULES:
        raise ValueError(
            f"whole lists from 1 to {MOST_RULES} rules by which the answer shows that nothing is left out."
        )
    for rule in rules:
        if not isinstance(rule, dict) or len(rule) != 1 or not set(rule) <= set(RULES):
            raise ValueError(f"A rule of whole is an object with one key, of {', '.join(RULES)}.")
        ((name, said),) = rule.items()
        if not CHECKS[name](said, parameters):
            raise ValueError(f"The rule {name} of whole is not said as it has to be; see the example.")


def _in_headers(headers: Mapping[str, str]) -> Iterator[str]:
    link = headers.get("link", "")
    # Looking through a very long one could take long, and what is in it is not known without.
    if len(link) > LONGEST_LINK or PAGES.search(link):
        yield "link_pages"
    pages = headers.get("x-total-pages", "1")
    if headers.get("x-next-page", "").strip() or pages.strip() not in ("0", "1"):
        yield "page_header"


def _marks(answer: Any) -> Iterator[str]:
    if not isinstance(answer, dict):
        return
    for place in (answer, *(answer[key] for key in AROUND if isinstance(answer.get(key), dict))):
        if any(place.get(flag) not in (False, None) for flag in FLAGS):
            yield "marked"
        if any(place.get(token) not in (False, None, "") for token in TOKENS):
            yield "marked"


def _is_false(answer: Any, said: Any, sent: Sent) -> bool:
    return pointers.at(answer, said) is False


def _is_blank(answer: Any, said: Any, sent: Sent) -> bool:
    found = pointers.at(answer, said)
    return found is ABSENT or found is None or (isinstance(found, str) and found == "")


def _equals(answer: Any, said: Any, sent: Sent) -> bool:
    found = pointers.at(answer, said[0])
    return isinstance(found, str) and found == said[1]


def _is_counted(answer: Any, said: Any, sent: Sent) -> bool:
    found, count = pointers.at(answer, said[0]), pointers.at(answer, said[1])
    return isinstance(found, list) and type(count) is int and len(found) == count


def _is_below(answer: Any, said: Any, sent: Sent) -> bool:
    found, limit = pointers.at(answer, said[0]), encoding.text(sent.get(said[1], ""))
    return isinstance(found, list) and limit.isascii() and limit.isdecimal() and len(found) < int(limit)


def _is_positive(answer: Any, said: Any, sent: Sent) -> bool:
    found = pointers.at(answer, said)
    return type(found) is int and found > 0


def _is_single(answer: Any, said: Any, sent: Sent) -> bool:
    found = pointers.at(answer, said)
    return isinstance(found, dict) and not _holds_a_list(found)


def _holds_a_list(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, dict) and any(map(_holds_a_list, value.values())))


def _is_unpaged(answer: Any, said: Any, sent: Sent) -> bool:
    return True


RULES: Mapping[str, Rule] = {
    "false": _is_false, "blank": _is_blank, "equals": _equals, "counted": _is_counted, "below": _is_below,
    "positive": _is_positive, "single": _is_single, "unpaged": _is_unpaged,
}  # fmt: skip


def _says_pointer(said: Any, parameters: Mapping[str, Any]) -> bool:
    return pointers.is_pointer(said) and said != ""


def _says_place(said: Any, parameters: Mapping[str, Any]) -> bool:
    return pointers.is_pointer(said)


def _says_two(said: Any, parameters: Mapping[str, Any]) -> bool:
    return isinstance(said, list) and len(said) == 2 and all(map(pointers.is_pointer, said)) and said[1] != ""


def _says_text(said: Any, parameters: Mapping[str, Any]) -> bool:
    are_texts = isinstance(said, list) and len(said) == 2 and all(isinstance(part, str) for part in said)
    return are_texts and pointers.is_pointer(said[0]) and said[1] != ""


def _says_parameter(said: Any, parameters: Mapping[str, Any]) -> bool:
    is_pair = isinstance(said, list) and len(said) == 2 and all(isinstance(part, str) for part in said)
    return is_pair and pointers.is_pointer(said[0]) and said[1] in parameters


def _says_why(said: Any, parameters: Mapping[str, Any]) -> bool:
    return isinstance(said, str) and 10 <= len(said.strip()) <= LONGEST_WHY


CHECKS: Mapping[str, Callable[[Any, Mapping[str, Any]], bool]] = {
    "false": _says_pointer, "blank": _says_pointer, "equals": _says_text, "counted": _says_two,
    "below": _says_parameter, "positive": _says_pointer, "single": _says_place, "unpaged": _says_why,
}  # fmt: skip
