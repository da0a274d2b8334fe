"""The agent's own budget at the doors of evidence and desk, in the words of a refusal."""

from __future__ import annotations

from audit import agents, budgets
from audit.agents import Principal
from audit.at_once import Row, Taking, ask
from audit.budgets import Limit
from evidence.errors import Problem


def take(principal: Principal, limit: Limit) -> int:
    """Count one use of a limit and say how many are left. Raises Problem when the agent used all that it may."""
    return ask(taking(principal, limit))


def taking(principal: Principal, limit: Limit) -> Taking[int]:
    """The same as a statement, for who counts more at once."""
    asked = budgets.taking(principal.agent_id, limit)

    def told(rows: list[Row]) -> int:
        try:
            return asked.told(rows)
        except budgets.Spent as spent:
            raise Problem(429, "agent_budget_spent", str(spent), retry_after=spent.seconds) from spent

    return Taking(asked.statement, asked.values, told)


def stopped() -> Problem:
    """What an agent is told that was stopped while it asked."""
    return Problem(403, "agent_stopped", "This agent was stopped while it asked, so nothing is given out.")


def check_at_work(principal: Principal) -> None:
    """Raises Problem when the agent was stopped since its token was looked at."""
    if agents.is_stopped(principal.agent_id):
        raise stopped()
