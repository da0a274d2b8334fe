"""Lines of an export for spreadsheets: a row each, its type in the first cell.

A cell that a spreadsheet would take for a formula is prefixed with an apostrophe, so JSONL is the exact form.
"""

from __future__ import annotations

import csv
import io
import re

from audit.export_lines import Line
from audit.header import FIELDS as HEADER_FIELDS

FORMULA = "=+-@＝＋－＠"
BEFORE = "\u00a0\u200b\u200c\u200d\u2060\ufeff"  # seen as nothing, besides what Python takes for space
# Where lists are separated by a semicolon, or a file is read as one with tabs, a cell may begin in the midst of ours.
WITHIN = re.compile(rf"([;\t\r\n][\s{BEFORE}\"]*)(?=[{re.escape(FORMULA)}])")
COLUMNS = (
    "type", "seq", "at", *HEADER_FIELDS, "id", "db_role", "digest", "leaf", "args", "result", "salt", "redacted_by",
    "damaged", "hash", "by", "size", "note",
)  # fmt: skip


def render(line: Line) -> str:
    """One row; for the export's first line, the names of the columns."""
    if line["type"] == "export":
        return _row(list(COLUMNS))
    cells = {**line.get("header", {}), **line}
    return _row([_cell(cells.get(name)) for name in COLUMNS])


def _cell(value: object) -> str:
    if value is None:
        return ""
    # Surrogates, which only damaged text has, have no form in a file.
    text = str(value).encode("utf-8", "backslashreplace").decode()
    first = text.lstrip().lstrip(BEFORE).lstrip()
    is_formula = first.startswith(tuple(FORMULA)) or text.startswith(("\t", "\r", "\n"))
    text = WITHIN.sub(r"\1'", text)
    return f"'{text}" if is_formula else text


def _row(cells: list[str]) -> str:
    out = io.StringIO()
    # All quoted: what separates cells differs between countries.
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow(cells)
    return out.getvalue()
