"""Measuring fault classes: how many tool errors are put into the class that their own labels give
them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from stanchion.kernel.faults import FAULTS, UNKNOWN
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.faults.lookup import fault_of
from stanchion.policy.load import load_policy
from stanchion_lab.measuring.figure import Figure, Report, counted
from stanchion_lab.measuring.rows import Row, rows
from stanchion_lab.measuring.watching import each

FILE: Final = "tool_errors.jsonl"

EXITS: Final = {
    "2": "user", "126": "user", "127": "user", "128": "user",
    "130": "system", "134": "system", "137": "system", "143": "system",
}  # fmt: skip
"""What a shell's exit status says by convention: misuse, not executable, not found, a usage error
of git; and ended by a signal from outside."""

CURL: Final = {
    "6": "system",
    "7": "system",
    "22": "user",
    "28": "system",
    "35": "system",
    "52": "system",
    "56": "system",
}
WGET: Final = {"4": "system", "5": "system", "8": "user"}
"""What these two programs say by theirs; a server's refusal (22, 8) is the caller's fault unless
its status is 5xx."""

LABELS: Final = {
    "domain_error": "business",
    "Formatting Errors": "user",
    "Resource Not Found": "user",
    "Authentication Errors": "user",
    "Timeout Issues": "system",
    "Service Errors": "system",
    "Resource Exhaustion": "system",
}
"""What people or a benchmark say a row is."""

NAMED: Final = {
    "user": [
        "TypeError",
        "ValueError",
        "SyntaxError",
        "InterpreterError",
        "ModuleNotFoundError",
        "FileNotFoundError",
        "KeyError",
        "UnsupportedFormatException",
        "BadRequestError",
        "AttributeError",
        "NameError",
        "IndexError",
    ],
    "system": [
        "InternalServerError",
        "RateLimitError",
        "TimeoutError",
        "ConnectionError",
        "APIConnectionError",
        "Timeout",
    ],
}
"""Which error a recorded call ended with, where its text names one."""

_ERROR: Final = re.compile(r"(?i)error|exception|traceback|failed|not found|denied|cannot")
_NAME: Final = re.compile(r"\b([A-Z]\w*(?:Error|Exception|Timeout))\b")
_SERVER: Final = re.compile(r"\b5\d\d\b")

NOTES: Final = (
    (
        "the class of a row comes from its own label: the exit status of a shell, curl or wget, the "  # noqa: E501
        "class people gave it,"
    ),
    (
        "or the error that a recorded call ended with. What is classed is the text alone: no type, no "  # noqa: E501
        "exit status."
    ),
    (
        "Left out: exit statuses that say nothing (1 and others), labels about the model's answer, "
        "rows without an error."
    ),
)


class Classed(NamedTuple):
    """A row, the class that its label gives it, and the one that its text got."""

    row: Row
    true: str
    got: str

    @property
    def line(self) -> str:
        """The row in a list of misses."""
        text = " ".join(str(self.row.payload).split())
        shown = text if len(text) <= 90 else f"{text[:40]} … {text[-45:]}"
        return f"{self.row.id} ({self.row.label}): {self.true}, classed as {self.got}: {shown}"


def measure(folder: Path) -> Report:
    """Class the text of every error in `tool_errors.jsonl`, and hold that against its label."""
    policy = load_policy({"name": "plain"})
    every = list(rows(folder, FILE))
    classed = [
        Classed(row, true, _got(policy, row)) for row in each(every) if (true := true_class(row))
    ]
    told = [one for one in classed if one.got != UNKNOWN]
    silent = [row for row in every if not true_class(row)]
    return Report(
        "Errors: whose fault a failure is, by its text alone",
        (
            _figure("all that have a class", classed, misses=True),
            *[
                _figure(f"of class {fault}", [one for one in classed if one.true == fault])
                for fault in FAULTS[:3]
            ],
            _figure("right where a class was given", told),
            Figure(
                "system said of what is not",
                sum(one.got == "system" != one.true for one in classed),
                len(classed),
                "0",
                aim="less",
            ),
            Figure(
                "rows without a class of their own that got one",
                sum(_got(policy, row) != UNKNOWN for row in silent),
                len(silent),
            ),
        ),
        NOTES,
    )


def true_class(row: Row) -> str:
    """The class that a row's own label gives it; empty where it gives none."""
    text = str(row.payload)
    if row.kind == "agent_error_observation":
        return "user"
    if row.kind == "trail_span":
        named = [name for name in _NAME.findall(text) for known in NAMED.values() if name in known]
        return next((fault for fault, known in NAMED.items() if named and named[-1] in known), "")
    if row.kind == "shell_exit":
        return _of_exit(row.label.removeprefix("exit_"), text)
    if row.kind == "trail_human" and not _ERROR.search(text):
        return ""
    return LABELS.get(row.label, "")


def _of_exit(status: str, text: str) -> str:
    said = (
        CURL.get(status, "")
        if "curl:" in text
        else WGET.get(status, "")
        if "awaiting response" in text
        else ""
    )
    if said == "user" and _SERVER.search(text):
        return "system"
    return said if said else EXITS.get(status, "")


def _got(policy: CompiledPolicy, row: Row) -> str:
    return fault_of(policy, "ToolError", (), None, str(row.payload))


def _figure(name: str, classed: list[Classed], misses: bool = False) -> Figure:
    return counted(
        name,
        classed,
        lambda one: one.got == one.true,
        lambda one: one.row.family,
        missed=(lambda one: one.line) if misses else None,
    )
