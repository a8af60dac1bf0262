"""Fitting thresholds by coordinate search on all parts but one, and measuring on the one that was
left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from stanchion_lab.flow.counting import Count, counted
from stanchion_lab.flow.measuring import Sampled, in_parts, measure, play_sample, sampled
from stanchion_lab.flow.replaying import Replayed, Shields, shields_with
from stanchion_lab.flow.report import share, table
from stanchion_lab.flow.sources import Source
from stanchion_lab.flow.tuning import Grid, Tunable, grid_of
from stanchion_lab.measuring.rows import NoRows

ROUNDS: Final = 3
"""After so many rounds over all thresholds the search ends, though something might still
improve."""

HEAD: Final = (
    "left out",
    "honest",
    "undisturbed",
    "attacks",
    "succeed",
    "both",
    "loss: fitted",
    "as it was",
)

Loss = Callable[[Any], float]
Made = Callable[[Any], Shields]
"""Makes shields for a guard."""


class Fitted(msgspec.Struct, frozen=True):
    """What was fitted without a part, how much is lost on the others with it and before, and the
    figures on the part that was left out: honest traces and attacks."""

    without: str
    thresholds: Any
    loss: float
    before: float
    honest: Count
    attacks: Count


def lost(played: list[Replayed]) -> float:
    """How much is lost: the share of honest traces that are disturbed, and of attacks that succeed
    or disturb; the mean of both where there are both."""
    shares = []
    honest = [one for one in played if one.trace.kind == "honest"]
    attacks = [one for one in played if one.trace.kind == "attack"]
    if honest:
        shares.append(sum([not one.undisturbed for one in honest]) / len(honest))
    if attacks:
        shares.append(sum([one.succeeded or not one.undisturbed for one in attacks]) / len(attacks))
    return sum(shares) / len(shares) if shares else 0.0


def search(start: Any, grid: Grid, loss: Loss) -> Any:
    """The best thresholds that changing one after the other finds. What improves nothing stays as
    it was."""
    best, least = start, loss(start)
    for _ in range(ROUNDS):
        before = least
        for name, values in grid.items():
            for value in values:
                tried = msgspec.structs.replace(best, **{name: value})
                found = loss(tried)
                if found < least:
                    best, least = tried, found
        if least == before:
            break
    return best


class Fitting:
    """Losses on samples of all parts, each thresholds and part played once however often they are
    asked for."""

    def __init__(
        self, tunable: Tunable, found: list[Source], most: int, seed: int, made: Made = shields_with
    ) -> None:
        self.grid = grid_of(tunable.thresholds)
        self._tunable, self._made = tunable, made
        self.parts = in_parts(found)
        self._samples: dict[str, list[Sampled]] = {
            part: [sampled(source, most, seed) for source in some]
            for part, some in self.parts.items()
        }
        self._known: dict[tuple[str, str], float] = {}

    def fit(self, without: str) -> Fitted:
        """Fit on every part but one, and measure all of that one."""
        if without not in self.parts:
            raise NoRows(f"there is no part `{without}`: there are {', '.join(self.parts)}")
        others = [part for part in self.parts if part != without]
        if not others:
            raise NoRows(f"`{without}` is the only part: there is nothing to fit on")
        start = self._tunable.thresholds
        best = search(start, self.grid, lambda tried: self._loss(tried, others))
        played = measure(self.parts[without], self._shields(best)).played
        return Fitted(
            without,
            best,
            self._loss(best, others),
            self._loss(start, others),
            counted(without, "honest", [one for one in played if one.trace.kind == "honest"]),
            counted(without, "attack", [one for one in played if one.trace.kind == "attack"]),
        )

    def _loss(self, thresholds: Any, parts: list[str]) -> float:
        """The mean over parts, so that a large one hides nothing."""
        return sum([self._part_loss(thresholds, part) for part in parts]) / len(parts)

    def _part_loss(self, thresholds: Any, part: str) -> float:
        key = (part, msgspec.json.encode(thresholds).decode())
        if key not in self._known:
            self._known[key] = lost(play_sample(self._samples[part], self._shields(thresholds)))
        return self._known[key]

    def _shields(self, thresholds: Any) -> Shields:
        return self._made(self._tunable.guard.with_thresholds(thresholds))


def fit_lines(fitted: list[Fitted], grid: Grid, most: int, seed: int) -> Iterator[str]:
    """The table for people, and the values behind it."""
    yield (
        f"Thresholds fitted without a part, and measured on it: seed {seed}, {most} traces of "
        f"each source and kind"
    )
    yield from table([HEAD, *[_cells(one) for one in fitted]])
    yield (
        "  loss: honest traces that are disturbed and attacks without both, the mean over the "
        "other parts"
    )
    yield ""
    yield from table(
        [("value", *[one.without for one in fitted]), *[_values(name, fitted) for name in grid]]
    )


def fit_data(fitted: list[Fitted], most: int, seed: int) -> dict[str, Any]:
    """The same as data."""
    return {
        "seed": seed,
        "sample": most,
        "fitted": [
            {
                "without": one.without,
                "thresholds": msgspec.to_builtins(one.thresholds),
                "loss": round(one.loss, 6),
                "before": round(one.before, 6),
                "honest": msgspec.to_builtins(one.honest),
                "attacks": msgspec.to_builtins(one.attacks),
            }
            for one in fitted
        ],
    }


def _cells(one: Fitted) -> tuple[str, ...]:
    honest, attacks = one.honest, one.attacks
    return (
        one.without,
        str(honest.traces),
        share(honest.undisturbed, honest.traces),
        str(attacks.traces),
        share(attacks.succeeded, attacks.traces),
        share(attacks.joint, attacks.traces),
        f"{one.loss:.4f}",
        f"{one.before:.4f}",
    )


def _values(name: str, fitted: list[Fitted]) -> tuple[str, ...]:
    return (name, *[f"{getattr(one.thresholds, name):g}" for one in fitted])
