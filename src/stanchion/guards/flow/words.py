"""Wording: what the agent reads, which shows nothing of what others wrote, and what a person is
shown."""

from __future__ import annotations

from typing import Any, Final

from stanchion.guards.flow.answer import Answer
from stanchion.kernel.actions import Action
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding, Patch

LONGEST: Final = 80
LEFT_OUT: Final = "[left out: a text that was read wanted this said]"
NO_LINK: Final = "[link left out: it would carry away what was read]"

CONFIRM: Final = {
    "dictated": "that the user wants this value, and not only the text that it was read in",
    "stands_for": "that the user means this one, and not only the text that names it",
    "action": "that the user wants this done at all",
    "unknown_origin": "that the value is right: nobody wrote it",
    "url_carries": "that this may be told to whoever keeps the address",
    "answer": "that the user is to be told this",
    "answer_link": "that this may be told to whoever keeps the address",
}


def finding(event: Event, said: Answer, action: Action) -> Finding:
    """What is found, in words for the agent: the parameter and where it comes from, never what
    stands there."""
    rule = said["rule"]
    name, where = _plain(said.get("parameter", "a value")), _where(said)
    match rule:
        case "action":
            args: tuple[str, ...] = (where, _plain(getattr(event, "tool", "")))
        case "answer":
            args = (where,)
        case "answer_link":
            args = ()
        case _:
            args = (name, where)
    left = NO_LINK if rule == "answer_link" else LEFT_OUT
    patches = tuple([Patch((), left, start, end, "flow") for start, end in said.get("spans", ())])
    return Finding(action, f"flow.{rule}", args, patches=patches)


FOR_THE_RUN: Final = "this tool to use these values for the rest of the run"
ONCE: Final = (
    "this call; the same one again only as far as your answer says: in this run, in this task, for "
    "a time"
)
OF_ANSWERS: Final = frozenset({"answer", "answer_link"})
"""Rules for what a model says last. A yes to a call of a tool is remembered; one to an answer or a
request is not."""


def told(said: Answer, remember: bool) -> dict[str, str]:
    """What a person is shown: the value, where it was read, what stands there, what was asked for,
    what to confirm, and what a yes allows. `remember` says whether a yes is remembered for the
    run."""
    shown: dict[str, str] = {}
    if "value" in said:
        shown[f"value of {said['parameter']}" if "parameter" in said else "value"] = str(
            said["value"]
        )
    if "tool" in said:
        field = f", field {said['field']}" if "field" in said else ""
        shown["read from"] = f"result {said['result']} of {said['tool']}{field}"
    if "untrusted" in said:
        shown["what stands there (untrusted)"] = str(said["untrusted"])
    if "wants" in said:
        shown["about it"] = str(said["wants"])
    asked = said.get("asked")
    shown["the user asked for"] = (
        "; ".join([str(each) for each in asked]) if asked else "nothing yet"
    )
    if said.get("full"):
        shown["memory"] = "not all that was read is remembered: origins may be missing"
    shown["confirm"] = CONFIRM.get(said["rule"], "that this is right")
    is_call = said["rule"] not in OF_ANSWERS and not said.get("request")
    shown["a yes allows"] = FOR_THE_RUN if remember and is_call else ONCE
    return shown


def _where(said: Answer) -> str:
    return (
        f"result {said['result']} of `{_plain(said['tool'])}`"
        if "tool" in said
        else "what was read"
    )


def _plain(text: Any) -> str:
    seen = "".join(
        [char if char.isprintable() and char != "`" else "?" for char in str(text)[: LONGEST + 1]]
    )
    return seen if len(seen) <= LONGEST else f"{seen[:LONGEST]}…"
