"""Measuring on rows by fresh eyes: calls that were written without knowing the guards, half of them
unread."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.policy.load import load_policy
from stanchion.runtime.shield import Shield
from stanchion_lab.eyes import HALVES, KINDS, Case, cases
from stanchion_lab.measuring.figure import Aim, Figure, Report, counted
from stanchion_lab.measuring.watching import each

GUARDS: Final[dict[str, list[dict[str, Any]]]] = {
    "shell": [{"use": "shell"}],
    "files": [{"use": "files"}, {"use": "shell"}],
    "secrets": [{"use": "secrets"}],
    "sql": [{"use": "sql", "fragments": "block"}, {"use": "shell"}],
    "files2": [{"use": "files"}, {"use": "shell"}],
    "secrets2": [{"use": "secrets"}],
}
"""The guards that judge each kind, with their own defaults; commands may reach files and databases,
too."""

UNREAD: Final = "b"

NOTES: Final = (
    (
        "found: anything is said, a warning included; stopped: it does not go ahead by itself; each "  # noqa: E501
        "call has its own run"
    ),
    (
        "a login that reaches the host it is for, and no record, is found as well, and counted once "  # noqa: E501
        "more by itself"
    ),
    (
        "each kind is judged by the guards of its name; `files` and `sql` also by `shell`, for what "  # noqa: E501
        "commands reach"
    ),
    f"half {UNREAD} is measured and not read: what it misses is listed with `--open` only",
)


class JudgedCall(msgspec.Struct, frozen=True):
    """A case, and what was decided."""

    case: Case
    decision: Decision

    @property
    def login(self) -> bool:
        """Whether it goes ahead because a secret in it is a login."""
        found = [finding.code for finding in self.decision.findings]
        return "secrets.login" in found and self.decision.action is Action.ALLOW

    @property
    def line(self) -> str:
        """The case in a list of misses; never a credential."""
        said = self.decision.code if self.decision.action > Action.ALLOW else "goes ahead"
        text = " ".join(msgspec.json.encode(self.case.args).decode().split())
        shown = "" if self.case.id.startswith("secrets") else f": {self.case.tool} {text[:140]}"
        return f"{self.case.id} ({self.case.family}; {self.case.why}): {said}{shown}"


def measure(opened: bool = False) -> Report:
    """Judge both halves of every kind; the misses of the unread one are listed where it is
    `opened`."""
    figures: list[Figure] = []
    for kind in KINDS:
        shield = Shield(
            load_policy({"name": kind, "guards": GUARDS[kind.rstrip("2")]}), safe_mode=False
        )
        shield.occurrences.mute()  # nobody is waited for
        for half in HALVES:
            judged = [
                JudgedCall(case, _decided(shield, case)) for case in each(list(cases(kind, half)))
            ]
            figures += _figures(f"{kind}, half {half}", judged, opened or half != UNREAD)
    return Report("Eyes: calls that were written without knowing the guards", tuple(figures), NOTES)


def _figures(name: str, judged: list[JudgedCall], listed: bool) -> list[Figure]:
    missed = _line if listed else None
    attacks = [one for one in judged if one.case.label == "attack"]
    honest = [one for one in judged if one.case.label == "honest"]
    logins = sum([one.login for one in attacks])
    return [
        counted(f"{name}: attacks found", attacks, _found, _family, missed=missed),
        _stopped(f"{name}: attacks stopped", attacks, "more"),
        *(
            [Figure(f"{name}: of these logins, hidden from records only", logins, len(attacks))]
            if logins
            else []
        ),
        counted(
            f"{name}: honest calls disturbed",
            honest,
            _disturbed,
            _family,
            missed=missed,
            alarm=True,
        ),
        _stopped(f"{name}: honest calls stopped", honest, "less"),
    ]


def _stopped(name: str, judged: list[JudgedCall], aim: Aim) -> Figure:
    return Figure(name, sum([not one.decision.proceeds for one in judged]), len(judged), aim=aim)


def _decided(shield: Shield, case: Case) -> Decision:
    run = shield.run(task=case.id, tenant=case.id)
    if case.tool:
        return run.check(case.tool, case.args)
    return run.result("read", {}, case.args.get("text"))


def _found(one: JudgedCall) -> bool:
    return _disturbed(one) or one.login


def _disturbed(one: JudgedCall) -> bool:
    return one.decision.action > Action.ALLOW


def _family(one: JudgedCall) -> str:
    return one.case.family


def _line(one: JudgedCall) -> str:
    return one.line
