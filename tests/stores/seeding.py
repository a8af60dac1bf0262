"""Seeding faults into what a server runs: small changes of its text, each of which some check must
notice."""

import os
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

import pytest

SOAK: Final = bool(os.environ.get("STANCHION_SOAK"))

Check = Callable[[], None]


class Mutation(NamedTuple):
    """A fault: which text, replaced by what."""

    name: str
    old: str
    new: str


def tried(mutations: Sequence[Mutation], quick: Sequence[str]) -> Sequence[Mutation]:
    """The faults that a test run tries: a handful, or all of them in a soak."""
    return mutations if SOAK else [mutation for mutation in mutations if mutation.name in quick]


def seeded(text: str, mutation: Mutation) -> str:
    """A text with the fault in it; one that is not there exactly once is an error."""
    count = text.count(mutation.old)
    assert count == 1, (
        f"mutant `{mutation.name}`: its text is there {count} times, not once; write it anew"
    )
    return text.replace(mutation.old, mutation.new)


def check_places(text: str, mutations: Sequence[Mutation], quick: Sequence[str]) -> None:
    """Complain about faults that change nothing, that share a name, or that are quick and not
    there."""
    for mutation in mutations:
        assert seeded(text, mutation) != text
    names = [mutation.name for mutation in mutations]
    assert len(set(names)) == len(names)
    assert set(quick) <= set(names)


def noticed(checks: Iterable[Check], forget: Check, most: int | None = None) -> str:
    """Which of so many checks notices that something is wrong, and how; nothing where none does.

    Before each of them `forget` empties the store.
    """
    for check in islice(checks, most):
        forget()
        try:
            check()
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - what is broken may raise anything
            return f"{check}: {error!r}"
    return ""
