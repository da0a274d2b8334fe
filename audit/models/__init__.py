"""What is kept of what happened, and the seams that upper layers write: one file for each reason to keep it."""

from audit.models.agents import Agent, AgentToken, AgentUse
from audit.models.browsing import SavedView, SearchState
from audit.models.entries import Entry, Link, Payload
from audit.models.sealed import Checkpoint, Leaf, SealState, Verification, Witnessed
from audit.models.seams import Definition, Heartbeat, Outbox
from audit.models.upkeep import Hold, Override, Redaction, Retained

__all__ = [
    "Agent",
    "AgentToken",
    "AgentUse",
    "Checkpoint",
    "Definition",
    "Entry",
    "Heartbeat",
    "Hold",
    "Leaf",
    "Link",
    "Outbox",
    "Override",
    "Payload",
    "Redaction",
    "Retained",
    "SavedView",
    "SealState",
    "SearchState",
    "Verification",
    "Witnessed",
]
