"""Admission over REST: for gates in front of agents' own tool calls, and for the hook of Claude Code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from audit.agents import Principal
from audit.budgets import CALLS
from evidence import arguments, budgets
from evidence.authentication import principal_of
from evidence.errors import Problem
from evidence.serializers import refusals
from gate.admission import asking, hooks, judging, reading
from gate.admission.answering import asked
from gate.admission.answering.asked import Gathered
from gate.admission.api_schemas import ASKED, DECIDED, HOOKED, LONGEST_NAME, LONGEST_SUBJECT, PAYLOAD, QUESTIONS
from gate.admission.hooks import ToolCall
from gate.admission.judging import Judged
from gate.admission.reading import Unreadable
from gate.admission.usable import usable

SCOPE = "admit"


class PlainJSONParser(BaseParser):
    """JSON with the numbers that a reducer compares: floats, and none that JSON has not."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        """The body's value. Raises ParseError for what is not JSON, or says two things; Problem for too much."""
        most: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        raw = stream.read(most + 1)
        if len(raw) > most:
            raise Problem(413, "too_large", f"The body is longer than {most:,} bytes; send less.")
        try:
            return reading.read(raw, is_finite=True)
        except Unreadable as error:
            raise ParseError("The body is not JSON, or says two things under one name.") from error


class AdmissionView(APIView):
    """What the addresses share: plain JSON, a token for admission, and a budget."""

    parser_classes = [PlainJSONParser]

    def holder(self, request: Request, *others: str) -> Principal:
        """Who asks, with this scope or one of the others. Raises Problem for a token that is not for it."""
        principal = principal_of(request)
        if not principal.scopes & {SCOPE, *others}:
            raise Problem(403, "wrong_scope", f"This token does not carry the scope {SCOPE}.")
        return principal

    def admitted(self, request: Request, schema: dict[str, Any]) -> tuple[Principal, dict[str, Any]]:
        """Who asks, and what. Raises Problem."""
        principal, body = self.holder(request), request.data
        if not isinstance(body, dict) or arguments.is_deep(body):
            raise Problem(422, "wrong_arguments", "The body must be one JSON object, and not a deep one.")
        if sentence := arguments.misfit(schema, body):
            raise Problem(422, "wrong_arguments", sentence)
        budgets.take(principal, CALLS)
        return principal, body


class Questions(AdmissionView):
    """What a policy asks of a model."""

    @extend_schema(
        operation_id="admission_questions",
        responses={200: OpenApiResponse(QUESTIONS, description="The questions."), **refusals(404)},
    )
    def get(self, request: Request, name: str) -> Response:
        """The questions that a model answers, each with the schema of its answer. Probes answer the others."""
        self.holder(request, "propose")  # whoever proposes a write answers with it
        version = judging.version_of(name)
        program = usable(version.body["program"]) if version else None
        if version is None or program is None:
            raise Problem(404, "unknown_policy", "There is no such policy in force.")
        return Response({"policy": name, "version": version.version, "questions": asking.asked(program)})


class Decide(AdmissionView):
    """The verdict over one action, for any gate."""

    @extend_schema(
        operation_id="decide_admission",
        request={"application/json": ASKED},
        responses={200: OpenApiResponse(DECIDED, description="The verdict."), **refusals(422, 429)},
    )
    def post(self, request: Request) -> Response:
        """Judge an action by a policy. Whatever is missing, unsure or about another action is ask."""
        principal, body = self.admitted(request, ASKED)
        action = body.get("action", {})
        given = _completed(body["policy"], body["answers"], action, principal)
        found = judging.judge(
            body["policy"], given.answers, judged=body.get("judged_action"), executed=body.get("executed_action"),
            is_clamped=body.get("is_production", True),
        )  # fmt: skip
        subject = body.get("subject") or body["policy"]
        told = _recorded(found, principal, subject, given, action, body.get("model", {}))
        return Response(told.as_json())


class ClaudeCodeHook(AdmissionView):
    """The PreToolUse hook of Claude Code."""

    @extend_schema(
        operation_id="claude_code_hook",
        request={"application/json": PAYLOAD},
        responses={
            200: OpenApiResponse(HOOKED, description="The decision; an empty body where the client's own rules go on."),
            **refusals(422, 429),
        },
    )
    def post(self, request: Request) -> Response:
        """Judge a tool call. What nobody observed is asked; an allow is answered with an empty body."""
        principal, body = self.admitted(request, PAYLOAD)
        call = hooks.call_of(body)
        given = _answers_about(call, principal)
        found = _judged(call, given.answers)
        told = _recorded(found, principal, call.tool or "a tool call", given, _action(call))
        said = hooks.answer(told.verdict, _reason(told, call))
        return Response(said, headers={hooks.ECHO: call.executed})


def _completed(policy: str, answers: Any, action: Mapping[str, Any], principal: Principal) -> Gathered:
    """The answers with those of the answering model to what they leave open."""
    return asked.completed(judging.version_of(policy), answers, action=action, asked_for=principal.actor().name)


def _answers_about(call: ToolCall, principal: Principal) -> Gathered:
    """Where nothing was observed a person is asked, whatever a model would say."""
    if call.policy is None or not call.answers:
        return Gathered(call.answers)
    about = {"tool": call.tool, "names": call.named, "cwd": call.cwd}
    return _completed(call.policy, call.answers, about, principal)


def _judged(call: ToolCall, answers: dict[str, Any]) -> Judged:
    if call.policy is None:
        return Judged("", None, True, judging.NO_POLICY)
    # Without an observation there is nothing that could be about another action: every answer is missing.
    executed = call.executed if call.answers or call.judged is not None else None
    return judging.judge(call.policy, answers, judged=call.judged, executed=executed)


def _action(call: ToolCall) -> dict[str, Any]:
    return {
        "tool": call.tool, "names": call.named, "cwd": call.cwd, "session": call.session, "tool_use": call.tool_use,
        "action": call.executed, "observed_by": "client probes" if call.answers else "", "unknown": call.unknown,
    }  # fmt: skip


def _recorded(
    found: Judged, principal: Principal, subject: str, given: Gathered, action: dict[str, Any],
    model: Mapping[str, Any] = judging.NOTHING,
) -> Judged:  # fmt: skip
    told = judging.recorded(
        found, principal, subject=subject[:LONGEST_SUBJECT], answers=given.answers, action=action, model=model,
        asked=given.asked,
    )  # fmt: skip
    budgets.check_at_work(principal)
    return told


def _reason(told: Judged, call: ToolCall) -> str:
    """Why, for whoever sits before the client: the rule and the facts, or what is missing."""
    entry = f" ({told.entry.ref})" if told.entry else ""
    if told.version is None:
        return f"No policy is in force for {call.tool[:LONGEST_NAME] or 'this call'}{entry}."
    facts = ", ".join(
        f"{name} {answer['value']}" for name, answer in call.answers.items() if isinstance(answer.get("value"), str)
    )
    unknown = f" {call.unknown[:LONGEST_NAME]}." if call.unknown else ""
    return f"{told.policy}, {judging.summary(told)}. Observed: {facts or 'nothing'}.{unknown}{entry}"
