"""Words of a metric's definition that advise or judge: in its name, its title, its limitations and its components.

A metric's own words are few and are all its author's, so the list is stricter than that of tools, and stands beside the
sentences that no evidence tool may say (`evidence.wording`). What a source calls its columns is the source's. Words are
English; what another language says is the second person's to read. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidence.wording import folding, names, prose

# Judgments, with their inflections. What a system records is in the past, and no judgment: failed, blocked, rejected.
JUDGING = re.compile(
    r"should(?:n|nt)?|must(?:n|nt)?|ought|recommend\w*|prefer(?:s|red|ring|abl[ey])?|favou?r(?:ite|ites|abl[ey])|best|worst"
    r"|better|worse(?:n|ns|ned|ning)?|(?:sub)?optim(?:al|ally|um)|ideal(?:ly)?|superior\w*|inferior\w*|merrier"
    r"|(?:un)?safe(?:r|st|ly|ness)?|(?:un)?health(?:y|ier|iest|ily|iness)?|(?:un)?acceptab\w+|(?:in)?tolerabl[ey]"
    r"|ok|okay|ba(?:d|dly|dness)|good(?:ness)?|pass|passes|passing|fail|fails|failing|priorit\w+"
    r"|sever(?:e|er|est|ely|ity|ities)|urgen(?:t|tly|cy|cies)|critical(?:ly|ity)?|alarming(?:ly)?|danger\w*"
    r"|harm(?:ful|less)\w*|hazard\w*|risk(?:y|ier|iest|iness)|suspicio\w+|anomal\w+|outliers?|abnormal\w*"
    r"|trustworth\w+|(?:in)?advisabl[ey]|negligibl[ey]|ignorabl[ey]|problematic\w*|guilty|blame[ds]?|actionable|winners?"
)
# Of names alone: in a sentence such a word may count what others ranked.
RANKING = re.compile(r"rank(?:s|ed|ing|ings)?|scor(?:e|es|ed|ing|ecards?)|grade[ds]?|ratings?|winning|champions?")
ACTING = names.ACTIONS | {"allow", "block", "page", "deny"}
ACTS = names.ACTIONS | {"approve", "reject", "drain", "close"}
WANTED = frozenset({"needs", "needed", "necessary", "required", "candidate", "candidates", "first", "due", "advised"})
PHRASES = ("risk score", "risk level", "roll back", "health score", "safety score")
LIGHTS = frozenset({"red", "amber", "yellow", "green", "critical", "warning", "alarm"})
COLORS = re.compile(r"\b(?:red|amber|yellow|green|traffic lights?)\b")
DIRECTIONS = re.compile(
    r"\b(?:high(?:er)?|low(?:er)?|big(?:ger)?|small(?:er)?|more|less|larger?|fewer)(?: (?:numbers?|values?))? "
    r"(?:is|are|means?) (?:worse|better|good|bad|preferable|best|worst|ideal|optimal)\b"
)
_WHAT = "it|the|them|this|a|an|all|any|when|if|once|for|to"
_DO = "close|stop|halt|pause|abort|act|intervene|investigate|restart|retry|keep|aim|strive"
ADVISING = re.compile(
    rf"(?:^|[.;:!?,] |\b(?:then|so|otherwise|please|and) )(?:{_DO}) (?:{_WHAT})\b"
    r"|\b(?:escalate[sd]?|rollbacks?|allow|block|page)\b|\bblocks the\b|\broll(?:s|ed)? (?:it|them) back\b"
    r"|\bto be (?:fixed|closed|restarted|retried|stopped|notified|paged|told)\b"
    r"|\b(?:goal|target|aim) is\b|\btr(?:y|ies) to keep\b"
    r"|\b(?:do|does) nothing\b|\bnothing to do\b|\b(?:take|takes) (?:no )?action\b|\bworth \w+ing\b|\bready to close\b"
    r"|\bneeds? (?:attention|action|restarting|fixing|closing|retrying)\b"
    r"|\b(?:pages|paged|alerts|alerted|notifies|notified|wakes) (?:on-call|somebody|someone|people|staff|the team)\b"
)
# Accounting says what a number is made of, a trace what came when: neither says why.
CAUSING = re.compile(r"\bbecause\b|\bdue to\b|\bcaused by\b|\b(?:explains|is) why\b|\bthanks to\b")
SPELLED = re.compile(r"\b(?:[a-z][ ._*-]){2,}[a-z]\b")  # s-h-o-u-l-d
SIGNS = re.compile("[\u203c\u2049\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")


def of_a_name(name: str) -> Iterator[str]:
    """The words of a name that no name may have: a judgment or a rank anywhere, an act where it begins or is wanted."""
    said = folding.words(name)
    whole = f" {' '.join(said)} "
    yield from (word for word in (*said, *_joined(whole)) if JUDGING.fullmatch(word) or RANKING.fullmatch(word))
    yield from (word for word in said[:1] if word in ACTING)
    yield from (word for word, after in zip(said, (*said, "")[1:], strict=True) if _is_order(word, after))
    if WANTED & set(said):
        yield from (word for word in said if word.removesuffix("s") in ACTS)
    yield from (phrase for phrase in PHRASES if f" {phrase} " in whole)
    yield from (word for _, word in names.never(name))
    yield from SIGNS.findall(name)


def _is_order(word: str, after: str) -> bool:
    """Whether a word puts first (`top_job`), or says what is to be done (`jobs_to_retry`)."""
    return (word == names.TOP and after not in names.NO_TOP) or (word == "to" and after in ACTS)


def _joined(text: str) -> Iterator[str]:
    """The words that somebody spelled out letter by letter."""
    return ("".join(filter(str.isalpha, found[0])) for found in SPELLED.finditer(text))


def of_a_text(text: str) -> Iterator[str]:
    """The words of a sentence that no title and no limitation may have."""
    said = folding.folded(text)
    yield from (word for word in (*re.findall(r"[a-z]+", said), *_joined(said)) if JUDGING.fullmatch(word))
    yield from (phrase for phrase in PHRASES if phrase in said)
    for pattern in (ADVISING, COLORS, CAUSING, SIGNS):
        yield from (found[0].strip(" .,;:!?") for found in pattern.finditer(text if pattern is SIGNS else said))
    yield from (found for _, found in prose.flaws(text))
