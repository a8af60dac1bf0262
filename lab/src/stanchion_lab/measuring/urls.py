"""Measuring the `egress` guard on URLs: how many that lead inside it refuses, how many public ones,
and whether it finds the hosts that the URL Standard finds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.policy.load import load_policy
from stanchion.readings.urls import UrlTarget, url_of
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion_lab.measuring.figure import Figure, Report, counted
from stanchion_lab.measuring.rows import Row, rows
from stanchion_lab.measuring.watching import each

FILE: Final = "urls.jsonl"
PUBLIC: Final = "93.184.216.34"
POLICY: Final[dict[str, Any]] = {
    "name": "urls",
    "guards": [{"use": "egress", "deadline_ms": 60_000}],
}
EXPECTED: Final = ("host", "hostname", "expected")
"""Under what a row may say which host the standard finds."""

NOTES: Final = (
    f"every name resolves to `{PUBLIC}`, so that a name is judged by what is written alone",
    "written: the same URLs as the argument `url` of a tool call, where nothing is resolved",
    (
        "standard: the host that is judged is the one the standard finds, or the URL is refused; "
        "failures are refused"
    ),
)


class JudgedUrl(msgspec.Struct, frozen=True):
    """A row, and what was said about it; empty where it goes ahead."""

    row: Row
    said: str

    @property
    def refused(self) -> bool:
        """Whether the guard has refused it; one that broke has judged nothing."""
        return self.said.startswith("egress.")

    @property
    def source(self) -> str:
        """Where the row is from."""
        name, _, rest = self.row.source.partition(" ")
        return f"{name.partition('@')[0]} {rest.rpartition('/')[2].partition(' ')[0]}".strip()

    @property
    def line(self) -> str:
        """The row in a list of misses."""
        text = str(self.row.payload)
        shown = text if len(text) <= 90 else f"{text[:50]} … {text[-35:]}"
        return (
            f"{self.row.id} ({self.row.label}): {self.said if self.said else 'goes ahead'}: "
            f"{shown!a}"
        )


def measure(folder: Path) -> Report:
    """Judge every URL of `urls.jsonl` as a request and as an argument of a call."""
    every = [row for row in rows(folder, FILE) if isinstance(row.payload, str)]
    figures: list[Figure] = []
    with Shield(
        load_policy(POLICY), safe_mode=False, resolver=lambda _host, _port: [PUBLIC]
    ) as shield:
        run = shield.run("measure")
        for name, said in (("requests", _requested), ("written", _written)):
            judged = [JudgedUrl(row, said(run, row)) for row in each(every)]
            figures.append(
                _right(f"{name}: internal refused", judged, "internal", lambda one: one.refused)
            )
            figures.append(_refused(f"{name}: public refused", judged))
            figures.append(_unlabelled(name, judged))
        judged = [JudgedUrl(row, _requested(run, row)) for row in each(every)]
    figures.append(
        _right("standard: host agreed or refused", judged, "whatwg_host", _agrees_or_refused)
    )
    figures.append(
        _right("standard: failure refused", judged, "whatwg_fail", lambda one: one.refused)
    )
    same = [one for one in judged if one.row.label == "whatwg_host"]
    figures.append(
        Figure(
            "standard: host agreed, and nobody reads another",
            sum(map(_agrees, same)),
            len(same),
            aim="more",
        )
    )
    return Report("URLs: where requests go", tuple(figures), NOTES)


def _right(
    name: str,
    judged: list[JudgedUrl],
    label: str,
    right: Callable[[JudgedUrl], bool],
    target: str = "100 %",
) -> Figure:
    group = [one for one in judged if one.row.label == label]
    return counted(
        name, group, right, lambda one: one.source, target=target, missed=lambda one: one.line
    )


def _refused(name: str, judged: list[JudgedUrl]) -> Figure:
    """Public URLs that do not go ahead, for whatever reason."""
    group = [one for one in judged if one.row.label == "public"]
    return counted(
        name,
        group,
        lambda one: one.said != "",
        lambda one: one.source,
        target="none",
        missed=lambda one: one.line,
        alarm=True,
    )


def _unlabelled(name: str, judged: list[JudgedUrl]) -> Figure:
    """Rows that no label puts on either side, listed with what is said about them."""
    group = [one for one in judged if one.row.label in ("see_spec", "confusing")]
    return Figure(
        f"{name}: others refused",
        sum(one.refused for one in group),
        len(group),
        "",
        tuple([o.line for o in group]),
    )


def _agrees_or_refused(one: JudgedUrl) -> bool:
    return one.refused or _agrees(one)


def _agrees(one: JudgedUrl) -> bool:
    """Whether the host that is judged is the one that the row, or else the parser of the standard,
    has for a URL."""
    target = url_of(one.row.payload)
    if not isinstance(target, UrlTarget) or target.unclear:
        return False
    expected = next((one.row.rest[key] for key in EXPECTED if key in one.row.rest), None)
    if expected is None:
        import can_ada

        expected = can_ada.parse(one.row.payload).hostname
    return target.host == str(expected).strip("[]").removesuffix(".")


def _requested(run: Run, row: Row) -> str:
    decision = run.egress(row.payload)
    return "" if decision.proceeds else decision.code


def _written(run: Run, row: Row) -> str:
    decision = run.check("fetch", {"url": row.payload})
    return "" if decision.proceeds else decision.code
