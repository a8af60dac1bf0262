"""A secret in any field that a host or a guard can give: it is in no state, trail, ticket, metric
or log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, Finding, Patch, Shield
from stanchion.approvals.errors import AnswerRefused
from stanchion.kernel.findings import Retry
from stanchion.runtime.operating.allowances import Allowances
from stanchion.runtime.run import Run

TOKEN = "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"
ASK = {"use": "rule", "id": "ask", "check": "action.tool_name != 'asks'", "action": "escalate"}
GUARDS: list[dict[str, Any]] = [
    {"use": "secrets"},
    {"use": "handoff", "known": False},
    {"use": "flow"},
    {"use": "step_limit", "per": "agent"},
    {"use": "budget", "calls": 900, "per": "task", "cost_usd": 9},
    {"use": "health"},
    {"use": "breaker"},
    {"use": "error_rate"},
    {"use": "loops"},
    {"use": "queue", "max_running": 9},
    {"use": "time_limit", "max_s": 900},
    ASK,
]
POLICY: dict[str, Any] = {
    "name": "p",
    "guards": GUARDS,
    "tools": {"once": {"annotations": ["once"]}},
}

Does = Callable[[Shield], Any]


def works(shield: Shield, agent: str = "a", **about: Any) -> Run:
    """A run that does a little of everything."""
    run = shield.run(agent, **about)
    with run:
        run.call(shield.tool(name="t")(lambda: "x"))
        run.call(shield.tool(name="once")(lambda: "x"))
        run.check("asks", {})
        run.judge("handoff", to="b", payload=WORK)
    return run


def uses(shield: Shield, tool: str) -> None:
    """Calls of a tool that work, fail, happen once, and have a person asked."""

    def fails() -> None:
        raise OSError("no")

    with shield.run("a") as run:
        run.call(shield.tool(name=tool)(lambda: "x"))
        run.check(tool, {"a": 1})
        run.result(tool, {"a": 1}, "x")
        run.call(shield.tool(name=tool, once=True)(lambda: "x"))
        with suppress(OSError):
            run.call(shield.tool(name=tool)(fails))


WORK = {"context": "c", "artifacts": ["a"], "rationale": "r"}

GIVEN: dict[str, Does] = {
    "agent": lambda shield: works(shield, TOKEN),
    "task": lambda shield: works(shield, task=TOKEN),
    "run": lambda shield: works(shield, id=TOKEN),
    "tenant": lambda shield: works(shield, tenant=TOKEN),
    "role": lambda shield: works(shield, role=TOKEN),
    "tools": lambda shield: works(shield, tools=[TOKEN, "t", "once", "asks"]),
    "parent": lambda shield: shield.run("a", id=TOKEN).spawn("b", TOKEN).check("t", {}),
    "tool": lambda shield: uses(shield, TOKEN),
    "part of a tool": lambda shield: uses(shield, f"deploy:{TOKEN}"),
    "handoff": lambda shield: shield.run("a", "t").judge("handoff", to=TOKEN, payload=WORK),
    "handoff done": lambda shield: shield.run("a", "t").judge("handoff_done", to=TOKEN),
    "source": lambda shield: shield.run("a").judge(
        "prompt", text="hi", source=TOKEN, trusted=False
    ),
    "tool of a result": lambda shield: shield.run("a").judge(
        "tool_result", tool=TOKEN, args={}, result="x"
    ),
    "call": lambda shield: shield.run("a").result("t", {}, "x", call=TOKEN),
    "error": lambda shield: shield.run("a").judge("error", tool="t", error=TOKEN),
    "model": lambda shield: shield.run("a").judge("model_call", model=TOKEN, messages=[]),
    "halt": lambda shield: shield.halt(f"for {TOKEN}", scope=f"tool:{TOKEN}", by=TOKEN),
    "tenant of a halt": lambda shield: shield.halt("x", tenant=TOKEN),
    "quarantine": lambda shield: shield.quarantine(f"agent:{TOKEN}", for_s=9, why=TOKEN),
    "safe mode": lambda shield: shield.safe_mode(True, TOKEN),
    "cancel": lambda shield: works(shield).cancel(TOKEN),
    "allowance": lambda shield: Allowances(shield).allow("0" * 12, tool=TOKEN, why=TOKEN, by=TOKEN),
}
"""Fields that a host gives."""

WORDS: dict[str, Finding] = {
    "text": Finding(Action.WARN, "own.code", text=f"it has {TOKEN}"),
    "guidance": Finding(Action.WARN, "own.code", text="no", guidance=f"use {TOKEN}"),
    "args": Finding(Action.BLOCK, "own.code", (TOKEN, 1)),
    "about": Finding(Action.BLOCK, "own.code", about=TOKEN),
    "effects": Finding(Action.WARN, "own.code", effects=(TOKEN,)),
    "asks": Finding(Action.ESCALATE, "own.code", (TOKEN,), text=f"it has {TOKEN}"),
    "retry": Finding(Action.RETRY, "own.code", text=f"no {TOKEN}", terms=Retry(2)),
    "patch": Finding(Action.REDACT, "own.code", patches=(Patch(("a",), TOKEN),)),
}
"""What a guard of the host's own says."""


class Own:
    """A guard of the host's own."""

    id = "own"

    def __init__(self, finding: Finding) -> None:
        self._finding = finding

    def judge(self, event: Any) -> Finding | None:
        """The same of every call."""
        return self._finding if getattr(event, "args", None) == {"a": "b"} else None


def places(folder: Path, shield: Shield, caplog: pytest.LogCaptureFixture) -> dict[str, str]:
    """All that can be read afterwards, by where it is."""
    seen = {"tickets": str(shield.tickets()), "metrics": str(shield.telemetry.collect())}
    shield.close()
    files = [file for file in folder.rglob("*") if file.is_file()]
    seen |= {file.name: file.read_bytes().decode("latin-1") for file in files}
    return seen | {"log": caplog.text}


def leaks(seen: dict[str, str]) -> list[str]:
    return [place for place, text in seen.items() if TOKEN[8:] in text]


@pytest.fixture
def listening(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """All that is logged."""
    caplog.set_level(logging.DEBUG)
    return caplog


@pytest.mark.parametrize("field", GIVEN)
def test_what_a_host_gives(field: str, tmp_path: Path, listening: pytest.LogCaptureFixture) -> None:
    shield = Shield.load(
        POLICY, journal=tmp_path / "trail", store=f"sqlite:{tmp_path}/state.db", metrics=True
    )
    with suppress(AnswerRefused):
        GIVEN[field](shield)
    assert leaks(places(tmp_path, shield, listening)) == []


@pytest.mark.parametrize(
    ("field", "mode"),
    [
        *[(field, "enforce") for field in WORDS],
        *[(field, "shadow") for field in WORDS if field != "patch"],
    ],
)
def test_what_a_guard_says(
    field: str, mode: str, tmp_path: Path, listening: pytest.LogCaptureFixture
) -> None:
    shield = Shield.load(
        {**POLICY, "mode": mode},
        guards=[Own(WORDS[field])],
        journal=tmp_path / "trail",
        store=f"sqlite:{tmp_path}/state.db",
        metrics=True,
    )
    with shield.run("a") as run:
        run.check("t", {"a": "b"})
    assert leaks(places(tmp_path, shield, listening)) == []


def test_what_is_kept_under_such_a_name_is_found_by_it_in_another_process(tmp_path: Path) -> None:
    """Also where very many other names were met in between; views show it as the trail does."""
    policy: dict[str, Any] = {
        "name": "p",
        "guards": [{"use": "secrets"}, {"use": "step_limit", "max_steps": 3, "per": "agent"}],
    }
    place = f"sqlite:{tmp_path}/state.db"
    name = f"a:{TOKEN}"
    with Shield.load(policy, store=place, journal="memory:") as shield:
        assert shield.run(name).check("t", {}).proceeds
        for number in range(300):
            shield.store.read(f"{{x}}a:ghp_{number:03}{TOKEN[7:]}")
        assert shield.run(name).check("t", {}).proceeds
        shield.halt("x", scope=f"tool:{TOKEN}")
    with Shield.load(policy, store=place, journal="memory:") as shield:
        (cell,) = [one for one in shield.store.look() if "}steps:" in one.key]
        assert shield.policy.veil.name(TOKEN) in shield.policy.veil.name(cell.key)
        assert shield.run(name).check(TOKEN, {}).code == "kernel.halted"
        run = shield.run(name)
        assert run.check("t", {}).proceeds
        assert run.check("t", {}).code == "steps.exceeded"
        assert [one.number for one in shield.store.look() if "}steps:" in one.key] == [3]
