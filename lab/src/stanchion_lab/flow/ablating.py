"""Ablation: what each rule of the guard earns, by what is lost without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from stanchion_lab.flow.counting import Count, counted
from stanchion_lab.flow.fitting import Made
from stanchion_lab.flow.measuring import in_parts, play_sample, sampled
from stanchion_lab.flow.replaying import Replayed, shields_with
from stanchion_lab.flow.report import share, table
from stanchion_lab.flow.sources import Source
from stanchion_lab.flow.tuning import Tunable
from stanchion_lab.measuring.rows import NoRows

ALL: Final = "all rules"
HEAD: Final = ("", "honest undisturbed", "attacks succeed", "both")


class Ablated(msgspec.Struct, frozen=True):
    """The figures of a part with all rules, or without one."""

    part: str
    rule: str
    honest: Count
    attacks: Count


def ablate(
    tunable: Tunable, found: list[Source], most: int, seed: int, made: Made = shields_with
) -> list[Ablated]:
    """Every part with all rules, and without each of them, on a sample."""
    if not tunable.rules:
        raise NoRows("the guard `flow` names no rules: there is nothing to switch off")
    guards = {
        ALL: tunable.guard,
        **{f"without {rule}": tunable.guard.without(rule) for rule in tunable.rules},
    }
    results: list[Ablated] = []
    for part, some in in_parts(found).items():
        samples = [sampled(source, most, seed) for source in some]
        for name, guard in guards.items():
            results.append(_figures(part, name, play_sample(samples, made(guard))))
    return results


def _figures(part: str, rule: str, played: list[Replayed]) -> Ablated:
    honest = [one for one in played if one.trace.kind == "honest"]
    attacks = [one for one in played if one.trace.kind == "attack"]
    return Ablated(part, rule, counted(part, "honest", honest), counted(part, "attack", attacks))


def ablation_lines(results: list[Ablated], most: int, seed: int) -> Iterator[str]:
    """The figures for people, a table for each part; a rule without which nothing changes is
    marked."""
    yield f"Every rule switched off by itself: seed {seed}, {most} traces of each source and kind"
    for part in dict.fromkeys([one.part for one in results]):
        own = [one for one in results if one.part == part]
        yield ""
        yield f"{part}:"
        yield from table([HEAD, *[_cells(one, own[0]) for one in own]])


def ablation_data(results: list[Ablated], most: int, seed: int) -> dict[str, Any]:
    """The same as data."""
    return {"seed": seed, "sample": most, "ablated": msgspec.to_builtins(results)}


def _cells(one: Ablated, whole: Ablated) -> tuple[str, ...]:
    same = one is not whole and (_key(one) == _key(whole))
    return (
        f"{one.rule}{' (no change)' if same else ''}",
        share(one.honest.undisturbed, one.honest.traces),
        share(one.attacks.succeeded, one.attacks.traces),
        share(one.attacks.joint, one.attacks.traces),
    )


def _key(one: Ablated) -> tuple[int, int, int]:
    return one.honest.undisturbed, one.attacks.succeeded, one.attacks.joint
