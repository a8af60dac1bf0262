"""The drawings of the document are held against the code: every box, arrow, class, method and note
of them."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import pytest

from stanchion.dialects import guardian as dialect
from stanchion.dialects.guardian import CircuitState, GuardianLayer, InMemoryCacheProvider
from stanchion.policy.load import load_policy
from stanchion.testing import FakeClock
from tests.dialects.guardian.playing import block, call, failing, guarded

LAYERS: Final = {
    "L0: Circuit Breaker": ("health", "breaker"),
    "L1: Loop Detection": ("loops",),
    "L2: Schema Validation": ("schema",),
    "L3: Experience Learning": (),
    "L4: Advice Generation": (),
}
"""The guards of each box; the last two are no guards: they learn, and give words."""
SEARCH: Final = {"name": "search", "inputSchema": {"type": "object", "required": ["q"]}}


def test_the_graph_of_layers() -> None:
    drawn = block(11)
    boxes = dict(re.findall(r"(\w)[\[{]([^\]}]+)[\]}]", drawn))
    arrows = re.findall(r"(\w)(?:[\[{][^\]}]+[\]}])? -->(?:\|([^|]+)\|)? (\w)", drawn)
    assert len(arrows) == len(re.findall("-->", drawn)) == 11
    after = {start: end for start, _, end in arrows if start != "G"}
    way, at = [], "A"
    while at != "G":
        at = after[at]
        way.append(boxes.get(at, at))
    assert way[:-1] == list(LAYERS), "the layers are drawn in this order"
    with guarded() as guardian:
        placed = sorted(
            [seat.placed for seat in load_policy(guardian.policy).seats],
            key=lambda one: one.priority,
        )
        assert [one.id for one in placed] == [name for names in LAYERS.values() for name in names]
        # H and J, and the arrow back to E: what was executed is reported, and experience knows it.
        assert [end for start, label, end in arrows if (start, label) == ("G", "Yes")] == ["H"]
        assert (after["H"], after["J"]) == ("J", "E")
        assert guardian.check(call("search", q=1))["allowed"]
        guardian.report_result(call("search", q=1), True)
        assert guardian.experience.get_tool_reliability("search") == 1.0
        # I and K: what is blocked gives advice, which the agent receives.
        assert [end for start, label, end in arrows if (start, label) == ("G", "No")] == ["I"]
        assert boxes[after["I"]] == "Agent Receives Feedback"
        failing(guardian, "fetch")
        refused = guardian.check(call("fetch"))
        assert not refused["allowed"]
        assert refused["advice"].startswith("Tool 'fetch' failed 5x.")
        assert refused["suggestion"]


def closed_to_open(guardian: GuardianLayer, _clock: FakeClock, words: str) -> None:
    failures = int(words.split()[0])
    failing(guardian, "fetch", failures - 1)
    assert guardian.health_monitor.get_health("fetch").state is CircuitState.CLOSED
    failing(guardian, "fetch", 1)


def expires(guardian: GuardianLayer, clock: FakeClock, words: str) -> None:
    assert words == "cooldown expires"
    clock.advance(round(guardian.health_monitor.get_health("fetch").cooldown * 1000))


def probes_succeed(guardian: GuardianLayer, _clock: FakeClock, words: str) -> None:
    for number in range(int(words.split()[0])):
        assert guardian.health_monitor.get_health("fetch").state is CircuitState.HALF_OPEN
        assert guardian.check(call("fetch", probe=number))["is_probe"]
        guardian.report_result(call("fetch", probe=number), True)


def probe_fails(guardian: GuardianLayer, _clock: FakeClock, words: str) -> None:
    assert words == "probe failure"
    before = guardian.health_monitor.get_health("fetch").cooldown
    assert guardian.check(call("fetch", probe=9))["is_probe"]
    guardian.report_result(call("fetch", probe=9), False, "connection refused")
    assert guardian.health_monitor.get_health("fetch").cooldown == 2 * before, (
        "an extended cooldown"
    )


TRANSITIONS: Final[dict[tuple[str, str], Callable[[GuardianLayer, FakeClock, str], None]]] = {
    ("CLOSED", "OPEN"): closed_to_open,
    ("OPEN", "HALF_OPEN"): expires,
    ("HALF_OPEN", "CLOSED"): probes_succeed,
    ("HALF_OPEN", "OPEN"): probe_fails,
}


def test_the_states_of_a_circuit() -> None:
    drawn = re.findall(r"(\w+) ──\[([^\]]+)\]──> (\w+)( \(extended cooldown\))?", block(39))
    assert [(start, end) for start, _, end, _ in drawn] == list(TRANSITIONS)
    for start, words, end, _ in drawn:
        clock = FakeClock()
        with guarded(clock) as guardian:
            if start != "CLOSED":
                failing(guardian, "fetch")
            if start == "HALF_OPEN":
                clock.advance(60_000)
            assert guardian.health_monitor.get_health("fetch").state.name == start
            TRANSITIONS[start, end](guardian, clock, words)
            assert guardian.health_monitor.get_health("fetch").state.name == end


@pytest.mark.parametrize("state", ["CLOSED", "OPEN", "HALF_OPEN"])
def test_each_state_lets_through_what_it_says(state: str) -> None:
    """Closed lets all calls through, open none, half open probes."""
    clock = FakeClock()
    with guarded(clock) as guardian:
        if state != "CLOSED":
            failing(guardian, "fetch")
        clock.advance(60_000 if state == "HALF_OPEN" else 0)
        said = [guardian.check(call("fetch", n=number)) for number in range(10, 13)]
        went = [(one["allowed"], one["is_probe"]) for one in said]
        assert (
            went
            == {
                "CLOSED": [(True, False)] * 3,
                "OPEN": [(False, False)] * 3,
                "HALF_OPEN": [(True, True), (False, False), (False, False)],
            }[state]
        )
        assert (
            guardian.get_metrics()["tool_health"].get("fetch", {"state": "closed"})["state"]
            == state.lower()
        )


GIVES: Final[dict[str, type]] = {
    "Dict": dict,
    "str": str,
    "Tuple": tuple,
    "deque": deque,
    "": object,
}
CALLED: Final[dict[tuple[str, str], Callable[[Any], Any]]] = {
    ("GuardianLayer", "check"): lambda one: one.check(call("search", q=1)),
    ("GuardianLayer", "check_async"): lambda one: asyncio.run(one.check_async(call("search", q=1))),
    ("GuardianLayer", "report_result"): lambda one: one.report_result(call("search", q=1), True),
    ("GuardianLayer", "get_awareness_context"): lambda one: one.get_awareness_context(),
    ("HealthMonitor", "check_tool"): lambda one: one.check_tool("search"),
    ("HealthMonitor", "report_result"): lambda one: one.report_result("search", True),
    ("LoopDetector", "check"): lambda one: one.check(call("search", q=1)),
    ("MCPFacade", "validate_call"): lambda one: one.validate_call(call("search", q=1)),
    ("MCPFacade", "ingest_mcp_tools"): lambda one: one.ingest_mcp_tools([SEARCH]),
    ("ExperienceLayer", "log_incident"): lambda one: one.log_incident(call("search", q=1), True),
    ("ExperienceLayer", "find_similar_success"): lambda one: one.find_similar_success("search"),
    ("ExperienceLayer", "get_tool_reliability"): lambda one: one.get_tool_reliability("search"),
    ("AdviceGenerator", "generate"): lambda one: one.generate(dialect.AdviceContext("search", 3)),
}


def drawn_classes() -> dict[str, list[str]]:
    return {
        name: [line.strip() for line in body.strip().splitlines()]
        for name, body in re.findall(r"class (\w+) \{([^}]*)\}", block(267))
    }


def parts_of(guardian: GuardianLayer) -> dict[str, Any]:
    held = {type(one).__name__: one for one in vars(guardian).values()}
    return {
        "GuardianLayer": guardian,
        **{name: held[name] for name in drawn_classes() if name != "GuardianLayer"},
    }


def test_the_classes_and_their_members() -> None:
    classes = drawn_classes()
    assert sum([len(members) for members in classes.values()]) == 19
    with guarded() as guardian:
        for owned, made in (
            (True, parts_of(guardian)),
            (False, {name: getattr(dialect, name)() for name in classes}),
        ):
            for name, members in classes.items():
                for member in members:
                    _holds(name, made[name], member)
                if not owned and hasattr(made[name], "close"):
                    made[name].close()


def _holds(name: str, made: Any, member: str) -> None:
    method = re.fullmatch(r"\+(\w+)\(\) ?(\w*)", member)
    if method is not None:
        gives = GIVES[method[2]]
        assert isinstance(CALLED[name, method[1]](made), gives), f"{name}.{method[1]}"
        return
    field = re.fullmatch(r"-(\w+): (\w+)(?:\[(\w+)\])?", member)
    assert field, member
    kept: Any = getattr(made, field[1])
    kind: Any = GIVES[field[2]] if field[2] in GIVES else getattr(dialect, field[2])
    assert isinstance(kept, kind), f"{name}.{field[1]}"
    values: Any = kept
    if field[3]:
        assert all(isinstance(one, getattr(dialect, field[3])) for one in values.values())


def test_the_arrows_between_classes() -> None:
    arrows = re.findall(r"(\w+) --> (\w+)", block(267))
    assert len(arrows) == 8
    asked: list[str] = []

    class Cache(InMemoryCacheProvider):
        def get(self, key: str) -> Any:
            asked.append(key)
            return super().get(key)

    with guarded(cache_provider=Cache()) as guardian:
        guardian.ingest_tools([SEARCH])
        failing(guardian, "search", 1)
        guardian.check(call("search", q=1))
        uses = {
            ("MCPFacade", "CacheProvider"): any(key.startswith("validation:") for key in asked),
            ("AdviceGenerator", "CacheProvider"): any(key.startswith("advice:") for key in asked),
            ("ExperienceLayer", "StorageProvider"): isinstance(
                guardian.experience._storage, dialect.StorageProvider
            ),
        }
        for start, end in arrows:
            if start == "GuardianLayer":
                assert isinstance(parts_of(guardian)[end], getattr(dialect, end))
            else:
                assert uses[start, end], f"{start} --> {end}"


@pytest.mark.parametrize(("line", "awaited"), [(321, False), (334, True)])
def test_a_check_asks_the_layers_as_it_is_drawn(line: int, awaited: bool) -> None:
    drawn = re.findall(r"─> (await )?(\w+)(?:\.(\w+)\(\)| queries)", block(line))
    names = [name for _, name, _ in drawn]
    assert names == [
        "HealthMonitor",
        "LoopDetector",
        "MCPFacade",
        "ExperienceLayer",
        "AdviceGenerator",
    ]
    for waits, name, method in drawn:
        if method:
            assert inspect.iscoroutinefunction(getattr(getattr(dialect, name), method)) == bool(
                waits
            )
    with guarded() as guardian:
        guardian.ingest_tools([SEARCH])

        def asked(given: dict[str, Any]) -> dict[str, Any]:
            return asyncio.run(guardian.check_async(given)) if awaited else guardian.check(given)

        # Each call is refused by a layer and all that come after it: the first of them says why.
        reasons = [asked(call("search"))["reason"] for _ in range(3)]
        failing(guardian, "search")
        last = asked(call("search"))
        assert "lacks `q`" in reasons[0]
        assert "in a row" in reasons[2]
        assert "keeps failing" in last["reason"]
        assert last["advice"].startswith("Tool 'search' failed 5x.")
    returned = re.search(r"Return: \{([^}]+)\}", block(line))
    assert returned
    assert [*last] == [*returned[1].split(", "), "is_probe"]
