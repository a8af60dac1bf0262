"""Answers: what the memory says of an event, as plain data that a record keeps and a decision is
replayed from, and as a person is shown it."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

from stanchion.guards.flow.memory import ProvenanceMemory
from stanchion.guards.flow.rules import DoubtfulValue, FlowQuestion
from stanchion.kernel.actions import Action
from stanchion.kernel.contract.values import AskedValues
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding, Patch
from stanchion.readings.origins.known import ValueOrigin
from stanchion.readings.shortened import shorten

SHOWN: Final = 240
LONGEST: Final = 80
"""How much of a value a person is shown, and of a name the agent."""
NO_LINK: Final = "[link left out: it would carry away what was read]"

Answer = dict[str, Any]

STANDS: Final = {
    "content": "in a text or a field that anybody may have written",
    "other record": "in a record that the user did not name",
    "nowhere": "nowhere: neither the user nor anything that was read has it",
    "directory": "in a list; what lasts is asked about all the same",
    "named": "in a line of a text that anybody may have written",
}
"""Where a value stands, for people."""
CONFIRM: Final = {
    "sink": "that the user wants this done to, or for, just this one",
    "payload": "that just this is to be handed over",
    "unasked": "that the user wants this done at all",
    "read_out": "that this may be told to whoever keeps the address",
    "answer_link": "that this may be told to whoever keeps the address",
}
FOR_THE_RUN: Final = "this tool to use these values for the rest of the run"
ONCE: Final = (
    "this call; the same one again only as far as your answer says: in this run, in this task, for "
    "a time"
)


def answered(memory: ProvenanceMemory, question: FlowQuestion, effect: str) -> Answer:
    """A question as plain data."""
    said: Answer = {"rule": question.rule, "effect": effect}
    if question.doubts:
        said["sinks"] = [_doubt(one) for one in question.doubts]
        first = question.doubts[0].origin
        if first.result:
            said |= {"tool": first.tool, "result": first.result}
    if memory.asked:
        said["asked"] = list(memory.asked)
    if memory.known.full:
        said["full"] = True
    return said


def left_out(memory: ProvenanceMemory, links: list[tuple[int, int, ValueOrigin]]) -> Answer | None:
    """The addresses of an answer that are left out, as plain data."""
    if not links:
        return None
    said: Answer = {"rule": "answer_link", "spans": [[start, end] for start, end, _ in links]}
    where = next((origin for *_, origin in links if origin.result), None)
    if where is not None:
        said |= {"tool": where.tool, "result": where.result}
    return said | ({"asked": list(memory.asked)} if memory.asked else {})


def _doubt(one: DoubtfulValue) -> Answer:
    said: Answer = {
        "parameter": one.parameter[:SHOWN],
        "value": _shown(one.value),
        "origin": one.origin.word,
    }
    if one.origin.result:
        said |= {"tool": one.origin.tool, "result": one.origin.result}
    return said | ({"field": one.origin.field[:SHOWN]} if one.origin.field else {})


def _shown(value: str) -> str:
    """A value as it is shown; one that is cut off is told from every other by a digest."""
    if len(value) <= SHOWN:
        return value
    cut = sha256(value.encode("utf-8", "replace")).hexdigest()[:16]
    return f"{value[:SHOWN]}… ({len(value)} characters, {cut})"


def asked_values(said: Answer) -> AskedValues:
    """What of a call is asked about: each value with its parameter, and what the user said."""
    pairs = [(one["parameter"], one["value"]) for one in said.get("sinks", ())]
    return AskedValues(tuple(pairs), tuple(said.get("asked", ())))


def finding(event: Event, said: Answer, action: Action) -> Finding:
    """What is found, in words for the agent: the parameter and where it comes from, never what
    stands there."""
    rule = said["rule"]
    args: tuple[str, ...] = ()
    if rule in ("sink", "payload", "read_out"):
        first = said["sinks"][0]
        args = (_plain(first["parameter"]), _where(first))
    elif rule == "unasked":
        args = (_plain(getattr(event, "tool", "")),)
    spans = said.get("spans", ())
    patches = tuple([Patch((), NO_LINK, start, end, "flow") for start, end in spans])
    return Finding(action, f"flow.{rule}", args, patches=patches)


def told(said: Answer) -> dict[str, str]:
    """What a person is shown: each value and where it stands, what the user asked for, what to
    confirm, and what a yes allows."""
    shown: dict[str, str] = {}
    for count, one in enumerate(said.get("sinks", ()), 1):
        label = f"value of {one['parameter']}"
        label = f"{label} ({count})" if label in shown else label
        shown[label] = str(one["value"])
        where = STANDS.get(one["origin"], one["origin"])
        if "tool" in one:
            field = f", field {one['field']}" if "field" in one else ""
            where = f"{where} (result {one['result']} of {one['tool']}{field})"
        shown[f"{label} stands"] = where
    asked = said.get("asked")
    shown["the user said"] = "; ".join([str(each) for each in asked]) if asked else "nothing yet"
    if said.get("full"):
        shown["memory"] = "not all that was read is remembered: origins may be missing"
    shown["confirm"] = CONFIRM.get(said["rule"], "that this is right")
    calls = said["rule"] != "answer_link" and not said.get("request")
    shown["a yes allows"] = FOR_THE_RUN if calls else ONCE
    return shown


def _where(one: dict[str, Any]) -> str:
    return f"result {one['result']} of `{_plain(one['tool'])}`" if "tool" in one else "nowhere"


def _plain(text: Any) -> str:
    return shorten(str(text), LONGEST)
