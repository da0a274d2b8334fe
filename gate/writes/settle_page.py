"""What a person looks for in the target when the writer could not say whether a write ran."""

from __future__ import annotations

from dataclasses import dataclass

from gate.errors import NotAllowed
from gate.people.models import Person
from gate.writes import http_statement, proofs, settling, targets
from gate.writes.errors import Unfit
from gate.writes.http_target import Probe
from gate.writes.models import Execution, Settlement, WriteRequest

STATUSES = (
    WriteRequest.Status.UNKNOWN, WriteRequest.Status.SETTLED_EXECUTED, WriteRequest.Status.SETTLED_FAILED,
)  # fmt: skip


@dataclass(frozen=True)
class Look:
    """One thing to look at: what to ask the target, and what the answer means."""

    where: str
    query: str
    means: str


@dataclass(frozen=True)
class Settling:
    """The panel for people who look."""

    key: str
    xid: str
    is_open: bool
    looks: list[Look]
    said: list[Settlement]
    needed: int
    why_not: str  # why this person may not say what they found; empty when they may

    @property
    def hides_found(self) -> bool:
        """Whether what others found is kept from this person, who is to look with eyes of their own."""
        return self.is_open and not self.why_not


def of(write: WriteRequest, person: Person, execution: Execution | None) -> Settling | None:
    """The panel; None for a write about which there is nothing to settle."""
    if execution is None or write.status not in STATUSES:
        return None
    is_open = write.status == WriteRequest.Status.UNKNOWN
    return Settling(
        str(execution.ledger_key), _xid(execution), is_open, _looks(write, execution) if is_open else [],
        settling.counted(write), settling.needed(write), _why_not(person, write) if is_open else "",
    )  # fmt: skip


def _xid(execution: Execution) -> str:
    return execution.target_xid or str((execution.noted or {}).get("xid", ""))


def _why_not(person: Person, write: WriteRequest) -> str:
    try:
        settling.check_can_settle(person, write)
    except NotAllowed as reason:
        return str(reason)
    return ""


def _looks(write: WriteRequest, execution: Execution) -> list[Look]:
    proof = proofs.of(targets.of(write.target))
    if proof == proofs.LEDGER:
        return [_ledger(write, execution)]
    return [_transaction(execution)] if proof == proofs.XID else _request(write, execution)


def _ledger(write: WriteRequest, execution: Execution) -> Look:
    table = targets.of(write.target).ledger
    return Look(
        f"The ledger of {write.target.name}",
        f"select * from {table} where approval_id = '{execution.ledger_key}'",
        "A row whose proposal_digest and effect are those shown here says that it was executed. No row says that it"
        " was not, if this is the server that it was sent to, and its past was not set back since.",
    )


def _transaction(execution: Execution) -> Look:
    noted = execution.noted or {}
    if "system" not in noted:
        return Look("The rows", "", "No attempt came so far that it could have committed; compare the rows below.")
    return Look(
        f"The server with the system identifier {noted['system']}, on timeline {noted['timeline']}",
        f"select pg_xact_status('{noted['xid']}')",
        "Committed says that it was executed, aborted that it was not; on any other server or timeline neither says"
        " anything. Then compare the rows with those below. The server's log names the key under the prefix gate.",
    )


def _request(write: WriteRequest, execution: Execution) -> list[Look]:
    action = targets.of(write.target).action
    asked = Look(
        f"What {write.target.name} has under this key",
        f"Idempotency-Key: {execution.ledger_key}",
        "Whoever runs it can say whether a request with this key arrived, and what became of it.",
    )
    return [asked] if action is None or action.probe is None else [asked, *_read_back(write, action.probe)]


def _read_back(write: WriteRequest, probe: Probe) -> list[Look]:
    try:
        url = http_statement.filled(probe.url, http_statement.screened(write).fields)
    except Unfit:  # changed by hand; the writer would not send it either
        return []
    return [Look("The read-back", f"GET {url}", f"Its {probe.pointer} is shown below: as it was, and as it must be.")]
