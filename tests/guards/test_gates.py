"""A guard of whose gate nothing is in an event has nothing to say: it is asked all the same, about
everything that our tests know of and what is drawn from it, in every disguise."""

from __future__ import annotations

import itertools
import tomllib
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from hypothesis import given, strategies as st

from stanchion.guards import secrets
from stanchion.guards._shipped import SHIPPED
from stanchion.guards.egress import EgressGuard
from stanchion.guards.files import Files
from stanchion.guards.pii import Pii
from stanchion.guards.pii.entities import FAMILIES
from stanchion.guards.schema import Schema
from stanchion.guards.schema.tools import CheckedDefinition, ToolDefinition, ToolDefinitions
from stanchion.guards.secrets import Secrets
from stanchion.guards.secrets.guard import OwnPattern
from stanchion.guards.shell import Shell
from stanchion.guards.shell.repository import RepositoryGuard
from stanchion.guards.sql import Sql
from stanchion.guards.tool_allowlist import ToolAllowlist
from stanchion.kernel.actions import Action
from stanchion.kernel.contract.values import GuardGate
from stanchion.kernel.events import RunInfo, ToolCall, ToolResult
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.lineup import GateSet
from stanchion.kernel.names import names
from stanchion.kernel.regex import LARGEST, linear
from stanchion.readings import Reader
from stanchion.readings.disguise.escapes import APART
from stanchion.readings.scan import Seek
from tests.guards.secrets.test_disguises import FORMS
from tests.properties.examples import sample
from tests.sampling import SOAK

SECRETS: Final = Secrets(without=("named-secret",))
GUARDS: Final[dict[str, Any]] = {
    "secrets": SECRETS,
    "secrets, not decoded": Secrets(without=("named-secret",), decode=False),
    "secrets of one's own": Secrets(
        kinds=("mine",), patterns=(OwnPattern("mine", "badge-[0-9]{4}"),), decode=False
    ),
    "personal data": Pii(),
    "all personal data": Pii(entities=("*",), bare=True),
    "files": Files(root=(), unclear="allow", paths_only=True),
    "statements": Sql(destructive="block", stacked="allow", unclear="allow"),
    "metadata": EgressGuard(internal_hosts=("*",), credentials=True),
    "commands": Shell(),
    "repositories": RepositoryGuard(Shell()),
}
CALLS: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    ("read_file", "path", {}),
    ("delete_file", "path", {}),
    ("edit", "file", {"content": "a = 1\nb = 2\n", "all": True}),
    ("bash", "command", {}),
    ("run_sql", "query", {"limit": 7}),
    ("fetch", "url", {}),
    ("search", "text", {"more": ["x", {"path": "/etc/shadow"}]}),
    ("kubectl", "args", {}),
    ("github_delete_repository", "repo", {}),
    ("http_request", "url", {"method": "DELETE"}),
)
"""Tools, the argument that has a text, and what stands beside it."""
RULES: Final = Path(secrets.__file__).parent / "rules"
TABLES: Final = Path(__file__).parents[1] / "tables"
BETWEEN: Final = (
    "",
    " ",
    "\n",
    "\r\n    ",
    "\x1e",
    "\x1f",
    '" + "',
    "=\n",
    "', '",
    "é",
    "–",
    "\xa0",
)
HIDES: Final = ("[redacted:{}]", "[{}:0a1b2c]", "[redacted:base85] '{}'")
"""What looks as if something had been taken out, and says something."""


def is_nothing(said: Any) -> bool:
    """Whether nothing follows from what is said: what a policy allows may be noted."""
    if not isinstance(said, Finding):
        return said is None
    return said.action is Action.ALLOW and not (said.patches or said.hides)


def hold(guard: Any, contents: Iterable[Any], spoilt: GuardGate | None = None) -> int:
    """Hold that a guard passes all content about which its gate, or a spoilt one, is silent; says
    about how much of it that is. A text is an argument of one tool after the other; of each in a
    soak and where a mistake is looked for."""
    silent, gates = 0, GateSet({7: guard.gate if spoilt is None else spoilt})
    tools = itertools.cycle([CALLS] if SOAK or spoilt is not None else [[one] for one in CALLS])
    for content in contents:
        events: list[Any] = [ToolResult(id="e", at=0, run=RunInfo("r"), tool="t", result=content)]
        if isinstance(content, dict):
            events.append(ToolCall(id="e", at=0, run=RunInfo("r"), tool="t", args=content))
        if isinstance(content, str):
            events += [
                ToolCall(id="e", at=0, run=RunInfo("r"), tool=tool, args={name: content, **more})
                for tool, name, more in next(tools)
            ]
        for event in events:
            reading = Reader().read(event)
            if event.stage in guard.stages and not reading.heard(gates):
                silent += 1
                said = guard.ask if guard.kind is Kind.ASKING else guard.judge
                assert is_nothing(said(reading)), event
    return silent


@cache
def known_texts() -> tuple[str, ...]:
    """What is a secret or personal data, and what only looks so."""
    rows = [tomllib.loads(file.read_text("utf-8")) for file in sorted(RULES.glob("*.toml"))]
    found = [text for row in rows for text in (*row["hits"], *row["misses"])]
    found += [text for family in FAMILIES for text, _ in family.HITS]
    found += [text for family in FAMILIES for text in family.MISSES]
    return (*found, "see badge-1234", "see b%61dge-1234", "nothing of all that")


@cache
def table_contents() -> tuple[Any, ...]:
    """Every text of the tables of guards, and every mapping."""
    found: list[Any] = []
    for name in ("secrets", "pii", "shell", "sql", "egress", "files", "injection"):
        waiting: list[Any] = [yaml.safe_load((TABLES / f"{name}.yaml").read_text("utf-8"))]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                waiting += [*value, *value.values()]
                found += [value] if not any(isinstance(one, dict) for one in value.values()) else []
            elif isinstance(value, list):
                waiting += value
            elif isinstance(value, str):
                found.append(value)
    return tuple(found)


@cache
def disguised() -> tuple[Any, ...]:
    """Known texts, each in some other form: encoded, in pieces, in lines, behind a placeholder, by
    names."""
    forms, found = list(FORMS.values()), []
    for at, text in enumerate(known_texts()):
        halves = [text[: len(text) // 2], text[len(text) // 2 :]]
        found += [
            f"see {forms[at % len(forms)](text)} there",
            halves,
            {"first": halves[0], "second": halves[1]},
            {"first": text, "how many": 7, text: "first"},
            {"deep": [{"text": text}, None, 4.5]},
            BETWEEN[at % len(BETWEEN)].join(halves),
            HIDES[at % len(HIDES)].format(text),
        ]
    return tuple(found)


@pytest.mark.parametrize("first", range(11))
@pytest.mark.parametrize("name", GUARDS)
def test_a_guard_is_silent_where_its_gate_is(name: str, first: int) -> None:
    guard = GUARDS[name]
    for contents in (known_texts(), table_contents(), disguised()):
        assert hold(guard, contents[first::11])


@sample(60)
@given(st.data())
def test_so_it_is_with_what_is_drawn(data: st.DataObject) -> None:
    some = st.sampled_from(known_texts())
    texts = data.draw(st.lists(st.tuples(some, st.sampled_from(BETWEEN)), min_size=1, max_size=3))
    text = "".join([text + between for text, between in texts])
    first, last = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    form = FORMS[data.draw(st.sampled_from(sorted(FORMS)))]
    for guard in GUARDS.values():
        hold(guard, [text, text[first:], [text[:first], text[first:last], text[last:]], form(text)])


DIGITS: Final = st.text(st.sampled_from("0123456789Ab.-_ @+/()]["), max_size=40)


@sample(150)
@given(st.lists(DIGITS, min_size=1, max_size=3))
def test_so_it_is_with_numbers_that_are_tied_to_each_other(texts: list[str]) -> None:
    for name in ("personal data", "all personal data"):
        hold(GUARDS[name], [texts, "4111 1111 1111 1111".join(texts)])


def without(right: str, instead: str) -> Any:
    """Makes a gate with something else in the place of an expression."""

    def made(gate: GuardGate) -> GuardGate:
        (expression,) = gate.expressions
        assert right in expression
        return gate._replace(expressions=(expression.replace(right, instead),))

    return made


def _one_rule_less(gate: GuardGate) -> GuardGate:
    seek: Any = gate.works[0]
    less = Seek([one for one in seek.patterns if "AKIA" not in one.text])
    return gate._replace(works=(less,))


WRONG: Final[dict[str, tuple[str, Any]]] = {
    "one rule less": ("secrets", _one_rule_less),
    "no rules": ("secrets", lambda gate: gate._replace(works=())),
    "no other form": ("secrets", lambda gate: gate._replace(expressions=())),
    "no pieces": ("secrets, not decoded", without(APART, "never")),
    "other ends of texts": ("secrets, not decoded", without(r"\x1f", r"\n")),
    "one escape less": ("secrets", without("%[2-7]", "%%[2-7]")),
    "one shape less": ("personal data", without("[0-9]{3}\\-[0-9]{2}\\-[0-9]{4}|", "")),
    "no beginning": ("personal data", without("(?:^|[^0-9A-Za-z_.@", "(?:[^0-9A-Za-z_.@")),
    "no end": ("personal data", without("(?:$|[^0-9A-Za-z_@", "(?:[^0-9A-Za-z_@")),
    "longer texts": ("personal data", lambda gate: gate._replace(shortest=20)),
    "no address": ("all personal data", without("@", "@@")),
    "no place": ("files", lambda gate: gate._replace(flat=("etc",))),
    "no deleting": ("files", lambda gate: gate._replace(opens=None)),
    "no statement": ("statements", lambda gate: gate._replace(flat=("drop",))),
    "no address of a machine": ("metadata", lambda gate: gate._replace(flat=(":",))),
    "no name of a place": ("metadata", lambda gate: gate._replace(opens=None)),
    "no command": ("commands", lambda gate: gate._replace(opens=None)),
    "no JSON": ("commands", lambda gate: gate._replace(expressions=())),
    "no command in a repository": ("repositories", lambda gate: gate._replace(opens=None)),
}  # fmt: skip
"""Gates with a mistake, each by its guard and by what makes it of the right one."""


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_gate_is_noticed(wrong: str) -> None:
    name, spoil = WRONG[wrong]
    guard = GUARDS[name]
    spoilt = spoil(guard.gate)
    with pytest.raises(AssertionError):
        hold(guard, (*disguised(), *known_texts(), *table_contents()), spoilt)


def test_every_shipped_guard_with_a_gate_is_held() -> None:
    for guard in GUARDS.values():
        each = (*guard.gate.expressions, *guard.gate.flat)
        assert all(linear(one).programsize <= LARGEST for one in each)
    declared = {kind for kind in SHIPPED.values() if hasattr(kind, "gate")}
    assert declared == {type(guard) for guard in GUARDS.values()} - {RepositoryGuard}


DEFINED: Final = ToolDefinitions(
    written={"read": CheckedDefinition(ToolDefinition(name="read", schema={"required": ["path"]}))}
)
BY_TOOL: Final[list[Any]] = [
    ToolAllowlist(),
    ToolAllowlist(undeclared="refuse"),
    ToolAllowlist(tools=("read", "s*")),
    Schema(),
    Schema(unknown="refuse"),
    Schema().with_tools(DEFINED),
    Schema(unknown="refuse").with_tools(DEFINED),
]
RUNS: Final = (
    RunInfo("r"),
    RunInfo("r", allowed_tools=names(("read",))),
    RunInfo("r", allowed_tools=names(()), additional_tools=names(("send",))),
)


def test_a_guard_has_nothing_to_say_about_a_tool_of_which_it_passes_all() -> None:
    """And there are some that it does not pass, and says something about."""
    told: Counter[tuple[bool, bool]] = Counter()
    for guard, run, tool, kind in itertools.product(
        BY_TOOL, RUNS, ("read", "send", "x"), (True, False)
    ):
        events: list[Any] = [
            ToolCall(id="e", at=0, run=run, tool=tool, args=content)
            if kind
            else ToolResult(id="e", at=0, run=run, tool=tool, result=content)
            for content in ({}, {"path": "a"}, {"path": 7, "to": ["x"]})
        ]
        events = [event for event in events if event.stage in guard.stages]
        for event in events:
            passes = guard.passes_all(events[0])
            silent = guard.judge(Reader().read(event)) is None
            assert silent or not passes, (guard, event)
            told[passes, silent] += 1
    assert told[True, True]
    assert told[False, False]
    assert {type(guard) for guard in BY_TOOL} == {
        kind for kind in SHIPPED.values() if hasattr(kind, "passes_all")
    }


def test_what_a_gate_cannot_say_leaves_none() -> None:
    """Names that make a value a secret, names that are judged themselves, and own kinds that are
    shorter than what is decoded."""
    mine = OwnPattern("mine", "[a-z]{9}")
    assert SECRETS.gate is not None
    assert Secrets().gate is None
    assert Secrets(without=("named-secret",), action="block").gate is None
    assert Secrets(without=("named-secret",), patterns=(mine,)).gate is None
