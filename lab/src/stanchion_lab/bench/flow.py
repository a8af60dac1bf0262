"""What the `flow` guard costs: to look at a call and to take in a result, after few and after many
calls."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from random import Random
from typing import Any, Final

from stanchion.guards.flow.guard import Flow
from stanchion.guards.flow.memory import ProvenanceMemory, note_of_result, note_of_words
from stanchion.guards.flow.rules import check
from stanchion.guards.flow.tools import FlowTool
from stanchion.kernel.actions import Risk
from stanchion.kernel.declared import ToolKnown
from stanchion_lab.bench.measure import compare
from stanchion_lab.bench.table import Effort, Section, rows_of

EARLIER: Final = (10, 100, 1_000, 10_000)
SIZE: Final = 4_096
"""How many characters a result has that is taken in."""
SMALL: Final = 1_024
"""How many those have that were taken in before."""


def _tool(name: str, effect: str, *sinks: str) -> FlowTool:
    return Flow().tool("", name, ToolKnown(Risk.MEDIUM, (effect,), sinks))


SEARCH: Final = _tool("search_emails", "read")
SEND: Final = _tool("send_email", "outward", "recipients")
PAY: Final = _tool("send_money", "irreversible", "recipient")
NOTHING: Final[frozenset[str]] = frozenset()
ASKED: Final = (
    "Find the mails about the budget, send Anna a summary of them, and pay all of their bills."
)
SENTENCES: Final = (
    "The {} for the next {} was discussed with the {}.",
    "Please review the {} before {}, and tell the {} which {} are free.",
    "The {} wants the {} to be moved by a {}.",
    "Send {} to everybody.",
    "We had {} {}, which the {} did not expect.",
    "It is not clear yet who takes the {} to the {}.",
)
NOUNS: Final = (
    *(
        "budget",
        "quarter",
        "team",
        "draft",
        "Friday",
        "office",
        "rooms",
        "customer",
        "launch",
        "week",
        "notes",
        "plan",
    ),
    *(
        "supplier",
        "order",
        "delivery",
        "schedule",
        "travel",
        "hotel",
        "flight",
        "invoice",
        "summary",
        "project",
        "vote",
    ),
    *(
        "teacher",
        "doctor",
        "patient",
        "ticket",
        "concert",
        "museum",
        "bridge",
        "river",
        "station",
        "engine",
        "battery",
    ),
    *(
        "drawing",
        "chapter",
        "author",
        "reader",
        "library",
        "market",
        "harvest",
        "weather",
        "mountain",
        "valley",
        "well",
    ),
)
"""Bodies are made of these: no two are the same, so nothing is measured that only a repetition
makes cheap."""
LOOKS: Final = 512
"""How many results are looked at for the first time; more than are measured."""


def flow(effort: Effort) -> Section:
    """Checks and results after so many earlier calls."""
    contenders: dict[str, Callable[[], object]] = {}
    for earlier in EARLIER:
        contenders[f"check a payment, {earlier:,} calls before"] = _checks(earlier, PAY, _payment)
        contenders[f"observe 4 KB, {earlier:,} calls before"] = _reads(earlier)
    for earlier in (EARLIER[0], EARLIER[-1]):
        contenders[f"check a mail, {earlier:,} calls before"] = _checks(earlier, SEND, _mail)
    contenders["check a search, 1,000 calls before"] = _checks(
        1_000, SEARCH, lambda number, _: {"query": f"plan {number}"}
    )
    costs = compare(contenders, max(1, effort.rounds // 4), min(effort.calls, 50))
    return Section(
        "where values come from",
        "the memory of a run, without the rest of a decision",
        rows_of(costs),
    )


def _checks(
    earlier: int, tool: FlowTool, call: Callable[[int, int], dict[str, Any]]
) -> Callable[[], object]:
    """Calls with values that were read before, each a little different from all others."""
    memory = _filled(earlier)
    calls = cycle([call(turn % earlier, turn) for turn in range(LOOKS)])
    return lambda: check(memory, tool, next(calls), NOTHING, True)


def _reads(earlier: int) -> Callable[[], object]:
    memory = _filled(earlier)
    results = cycle([_result(number, SIZE) for number in range(earlier, earlier + 200)])
    return lambda: memory.take(note_of_result(SEARCH, {"query": "budget"}, next(results)))


def _filled(earlier: int) -> ProvenanceMemory:
    memory = ProvenanceMemory()
    memory.take(note_of_words(ASKED))
    for number in range(earlier):
        memory.take(note_of_result(SEARCH, {"query": "budget"}, _result(number, SMALL)))
    return memory


def _sender(number: int) -> str:
    return f"anna.k{number:06x}@example.org"


def _payment(number: int, turn: int = 0) -> dict[str, Any]:
    return {"recipient": f"GB29NWBK{number:014d}", "amount": turn + 98.7, "subject": "Refund"}


def _mail(number: int, turn: int = 0) -> dict[str, Any]:
    body = f"The meeting r{turn} was moved to Friday, and the launch is on Monday."
    return {"recipients": [_sender(number)], "subject": "Summary of the budget", "body": body}


def _result(number: int, size: int) -> list[dict[str, str]]:
    """Mails as a tool returns them, of about so many characters, each with a sender of its own."""
    mails = []
    for at in range(max(1, size // 512)):
        mail = {
            "id": f"m{number:06x}x{at}",
            "sender": _sender(number) if at == 0 else f"team.t{number:06x}x{at}@example.org",
            "recipients": "me@example.org",
            "subject": f"Budget of the quarter, part {number:06x}",
            "date": "2024-05-15 10:00",
            "account": f"GB29NWBK{number:014d}" if at == 0 else "",
            "body": _body(f"{number} {at}"),
        }
        mails.append(mail)
    return mails


def _body(seed: str) -> str:
    """About 330 characters that nobody else has written."""
    draw, said = Random(seed), ""
    while len(said) < 330:
        sentence = draw.choice(SENTENCES)
        said += sentence.format(*draw.choices(NOUNS, k=sentence.count("{}"))) + " "
    return said[:330]
