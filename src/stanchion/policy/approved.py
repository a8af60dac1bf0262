"""What a policy approves for a time: entries that make no sense, told when it loads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date

from stanchion.policy.compiled import best
from stanchion.policy.errors import Fault
from stanchion.policy.nearest import hint
from stanchion.policy.schema import PolicyFile, always_active
from stanchion.policy.sections import ApprovedEntry

Where = Callable[..., str]


def wrong_in(file: PolicyFile, where: Where, whole: bool) -> Iterator[Fault]:
    """What is wrong with the approvals of a policy; one that is not `whole` may lack their
    guards."""
    guards = always_active(file)
    for name, said in file.approved.items():
        tool = best(file.tools, said.tool)
        for path, message in _wrong(said, () if tool is None else tool.sinks):
            yield Fault(where("approved", name, *path), message)
        for at, guard in enumerate(said.guards):
            message = _unfit(guard, guards, whole)
            if message:
                yield Fault(where("approved", name, "guards", at), message)


def _wrong(said: ApprovedEntry, sinks: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    for key in ("guards", "agents", "tasks"):
        if not getattr(said, key):
            yield (key,), f"`{key}` is empty, so nothing is approved: name them"
    try:
        date.fromisoformat(said.until)
    except ValueError:
        yield ("until",), f"`{said.until}` is not a day: write one such as `2027-01-31`"
    for argument, pattern in said.patterns.items():
        if argument in said.args:
            yield (
                ("patterns", argument),
                f"`{argument}` stands under `args` too: leave one of them out",
            )
        elif argument in sinks:
            yield (
                ("patterns", argument),
                f"`{argument}` says what `{said.tool}` acts on: write it under `args`",
            )
        elif not any(map(str.isalnum, pattern)):
            yield (
                ("patterns", argument),
                f"`{pattern}` would let any `{argument}` through: write what has to be there",
            )


def _unfit(guard: str, guards: dict[str, bool], whole: bool) -> str:
    """Why an approval cannot answer a guard; empty where it can."""
    if guard not in guards:
        return f"there is no guard `{guard}` that could ask: {hint(guard, guards)}" if whole else ""
    return (
        f"`{guard}` is always active: what it asks a person has to answer each time"
        if guards[guard]
        else ""
    )
