"""What a task may do: fixed when its run begins, by host and policy, and able only to shrink."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from stanchion import Action, PolicyError, Refused, Shield
from stanchion.audit.open_trail import open_trail
from stanchion.audit.reader import TrailReader
from stanchion.audit.rebuilt import inputs_of, moment_of
from stanchion.kernel.events import RunInfo
from stanchion.kernel.mandate import Mandate, layer_of
from stanchion.kernel.replay import replay
from stanchion.policy.lint import lint
from stanchion.policy.load import load_policy
from stanchion.policy.loosening import loosenings
from stanchion.readings.mandate import granted_by
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import shield_for
from stanchion.testing.operators import operator
from tests.ops.broker.brokers import running, serving

TOOLS: Final = {
    "get": {"effect": "read"},
    "note": {"effect": "local"},
    "send_mail": {"effect": "outward"},
    "pay": {"effect": "irreversible"},
    "invite": {"effect": "privilege"},
    "read": {"effect": "outward"},
}
"""The last one is called like an effect."""
RENT: Final[list[Any]] = [
    "read",
    {"tool": "pay", "to": ["GB1", "me", "*-rent"], "amount": {"max": 100}},
    {"effect": "local", "kind": "memo"},
]
POLICY: Final[dict[str, Any]] = {
    "name": "mandates",
    "tools": TOOLS,
    "tasks": {"rent": {"may": RENT}, "look-*": {"may": ["read"]}},
}
COUNTED: Final = {**POLICY, "guards": [{"use": "budget", "calls": 1_000}]}
"""One by which every decision asks the store, and so knows what other processes have written."""
ALL: Final = (*TOOLS, "frobnicate", "list_files")


def process(folder: Path, **options: Any) -> Shield:
    """A shield as another process would have one: only the file is shared."""
    nonces = iter([os.urandom(8).hex() for _ in range(50)]).__next__
    return shield_for(COUNTED, store=SqliteStore(folder / "s.db"), nonces=nonces, **options)


def asked(run: Any, tools: tuple[str, ...] = ALL) -> set[str]:
    """The tools about which a person is asked."""
    found = {tool: run.check(tool, {"n": 1}) for tool in tools}
    assert {one.code for one in found.values()} <= {"", "mandate.outside"}
    return {tool for tool, one in found.items() if one.action is Action.ESCALATE}


ACTING: Final = {"note", "send_mail", "pay", "invite", "read", "frobnicate"}


@pytest.mark.parametrize(
    ("may", "inside"),
    [
        (None, ACTING),
        ([], set()),
        (["read"], set()),
        (["tool:read"], {"read"}),
        (["send_mail"], {"send_mail"}),
        (["local"], {"note"}),
        (["outward"], {"send_mail", "read", "frobnicate"}),
        (["outward", "irreversible", "privilege"], ACTING - {"note"}),
        (["*"], ACTING),
        (["send_*", "pay"], {"send_mail", "pay"}),
    ],
)
def test_what_is_outside_of_a_mandate_is_asked_about(may: Any, inside: set[str]) -> None:
    with shield_for(POLICY) as shield, shield.run("a", may=may) as run:
        assert asked(run) == ACTING - inside
        assert asked(run) == ACTING - inside, "by the straight way as well"


@pytest.mark.parametrize(
    ("may", "said"),
    [
        ("read", "`may` is no list of texts"),
        ([1], "`may` is no list of texts"),
        ([{"tool": "pay"}], "`may` is no list of texts"),
        (["send a mail"], "`send a mail` in `may` is neither an effect"),
        ([""], "`` in `may` is neither an effect"),
        (["tool:"], "`tool:` in `may` is neither an effect"),
        ([f"t{n}" for n in range(300)], "`may` has 300 entries"),
    ],
)
def test_what_is_no_mandate_is_told(may: Any, said: str) -> None:
    with shield_for(POLICY) as shield, pytest.raises(ValueError, match=said):
        shield.run("a", may=may)


@pytest.mark.parametrize(
    ("tool", "args", "granted"),
    [
        ("pay", {"to": "GB1", "amount": 100}, {"to", "amount"}),
        ("pay", {"to": "home-rent", "amount": 0.5, "note": "x"}, {"to", "amount"}),
        ("pay", {"to": ["GB1", "c9"], "amount": 1}, {"to", "amount"}),
        ("note", {"kind": "memo"}, {"kind"}),
        ("get", {"to": "anybody"}, set()),
        ("pay", {"to": "GB1", "amount": 101}, None),
        ("pay", {"to": "GB1", "amount": "1"}, None),
        ("pay", {"to": "GB1", "amount": True}, None),
        ("pay", {"to": "GB1"}, None),
        ("pay", {"to": ["GB1", "GB2"], "amount": 1}, None),
        ("pay", {"to": [], "amount": 1}, None),
        ("pay", {"to": "me", "amount": 1}, None),
        ("note", {"kind": "task"}, None),
        ("send_mail", {"to": "GB1"}, None),
    ],
)
def test_a_template_says_with_which_values(tool: str, args: Any, granted: Any) -> None:
    with shield_for(POLICY) as shield, shield.run("a", "rent", labels={"customer": "c9"}) as run:
        assert run.check(tool, args).proceeds is (granted is not None)
        effect = TOOLS[tool]["effect"]
        found = granted_by(run.desk.info, tool, args, effect)
        assert found == (set() if granted is None else granted)


def test_the_word_me_stands_for_the_users_own() -> None:
    layer = layer_of("may", [{"tool": "pay", "to": "me"}])
    run = RunInfo("r", may=Mandate((layer,)), labels=(("customer", "c9"),))
    for value, own in (("c9", True), ("GB7", True), ("customer", False), ("me", True)):
        found = granted_by(run, "pay", {"to": value}, "irreversible", ("GB7",))
        assert (found == {"to"}) is (own and value != "me"), value


def test_template_and_host_are_layers_of_one_mandate() -> None:
    with shield_for(POLICY) as shield, shield.run("a", "rent", may=["pay", "send_mail"]) as run:
        assert run.check("pay", {"to": "GB1", "amount": 1}).proceeds
        assert asked(run) == ACTING


def test_a_child_can_only_shrink_it() -> None:
    with shield_for(POLICY) as shield, shield.run("a", may=["send_mail", "note"]) as run:
        assert asked(run.spawn("b")) == ACTING - {"send_mail", "note"}
        child = run.spawn("b", may=["*"])
        assert asked(child) == ACTING - {"send_mail", "note"}
        assert asked(run.spawn("b", may=["send_mail", "pay"])) == ACTING - {"send_mail"}
        assert asked(child.spawn("c", may=["note"])) == ACTING - {"note"}
        assert asked(child.spawn("c", "look-up")) == ACTING
    with shield_for(POLICY).run("a") as free:
        assert asked(free.spawn("b", may=["note"])) == ACTING - {"note"}
        assert asked(free) == set()


def test_who_opens_the_run_anew_gets_no_more(tmp_path: Path) -> None:
    with process(tmp_path) as one, process(tmp_path) as two:
        first = one.run("a", id="job", may=["send_mail", "note"])
        assert asked(first) == ACTING - {"send_mail", "note"}
        assert asked(two.run("a", id="job")) == ACTING - {"send_mail", "note"}
        assert asked(two.run("a", id="job", may=["*"])) == ACTING - {"send_mail", "note"}
        assert asked(two.run("a", id="job", may=["note", "pay"])) == ACTING - {"note"}
        assert asked(first) == ACTING - {"note"}, "what another process narrowed stays narrow"
        assert asked(first.spawn("b")) == ACTING - {"note"}
        assert asked(one.run("a", id="other")) == set()


def test_a_pause_and_its_end_leave_the_mandate_where_it_is() -> None:
    signer, known = operator("ann")
    asks = {
        "use": "rule",
        "id": "asks",
        "applies_to": {"tools": ["send_mail"]},
        "pause": {"scope": "run"},
    }
    rule = {**asks, "check": "false", "action": "escalate"}
    policy = {**POLICY, "guards": [rule]}
    with shield_for(policy, operators=[known]) as shield:
        run = shield.run("a", id="job", may=["send_mail"])
        waits = run.check("send_mail", {})
        assert waits.action is Action.ESCALATE
        ticket = run.ticket(waits)
        assert ticket is not None
        shield.approve(ticket, by=signer)
        assert run.check("send_mail", {}).proceeds
        assert not shield.run("a", id="job").check("pay", {}).proceeds


def test_a_reload_never_widens_a_run_under_way() -> None:
    with shield_for(POLICY) as shield, shield.run("a", "look-up") as run:
        assert asked(run) == ACTING
        shield.reload({**POLICY, "tasks": {"look-*": {"may": ["read", "send_mail"]}}})
        assert asked(run) == ACTING
        assert asked(shield.run("a", "look-up")) == ACTING - {"send_mail"}
        shield.reload({**POLICY, "tasks": {}})
        assert asked(run) == ACTING
        with shield.run("a", "other") as other:
            assert asked(other) == set()
            shield.reload({**POLICY, "tasks": {"other": {"may": ["note"]}}})
            assert asked(other) == ACTING - {"note"}


def test_a_yes_is_for_the_tool_where_it_does_not_last() -> None:
    signer, known = operator("ann")
    with shield_for(POLICY, operators=[known]) as shield, shield.run("a", may=["read"]) as run:

        def say_yes(tool: str, args: dict[str, Any]) -> None:
            ticket = run.ticket(run.check(tool, args))
            assert ticket is not None
            shield.approve(ticket, by=signer)
            assert run.check(tool, args).proceeds

        for tool, again in (("send_mail", True), ("note", True), ("pay", False), ("invite", False)):
            say_yes(tool, {"n": 1})
            assert run.check(tool, {"n": 2}).proceeds is again, tool
        assert run.spawn("b").check("send_mail", {"n": 3}).proceeds
        assert not run.spawn("b", may=["note"]).check("send_mail", {"n": 3}).proceeds
        assert not run.spawn("b", "look-up").check("pay", {"n": 3}).proceeds
        assert not run.check("frobnicate", {}).proceeds
    with shield_for(POLICY, operators=[known]) as shield, shield.run("a", "rent") as run:
        ticket = run.ticket(run.check("note", {"kind": "task"}))
        assert ticket is not None
        shield.approve(ticket, by=signer)
        assert run.check("note", {"kind": "task"}).proceeds
        assert not run.check("note", {"kind": "other"}).proceeds, "values are asked about anew"


def test_other_guards_say_what_they_say_inside_of_it() -> None:
    refuses = {"use": "tool_denylist", "tools": ["send_mail"]}
    with shield_for({**POLICY, "guards": [refuses]}).run("a", may=["send_mail"]) as run:
        assert run.check("send_mail", {}).action is Action.BLOCK


def test_requests_of_no_tool_reach_others_unless_they_only_look() -> None:
    with shield_for(POLICY).run("a", may=["read", "send_mail"]) as run:
        assert run.egress("https://example.com/").proceeds
        assert not run.egress("https://example.com/", method="POST").proceeds
        assert run.egress("https://example.com/", method="POST", tool="send_mail").proceeds
        assert run.egress("https://example.com/", method="POST", tool="get").proceeds


def test_what_only_watches_asks_nobody() -> None:
    with shield_for({**POLICY, "mode": "shadow"}).run("a", may=["read"]) as run:
        made = run.check("pay", {})
        assert made.action is Action.ALLOW
        assert [one.code for one in made.shadow] == ["mandate.outside"]


def test_the_words_name_what_it_may_do() -> None:
    with shield_for(POLICY).run("a", "rent", may=["pay"]) as run:
        (found,) = run.check("send_mail", {}).findings
        assert found.message == (
            "`send_mail` (outward) is outside of what this task may do: pay; and of that only "
            "read, pay with the values that are named for it, local with the values that are "
            "named for it"
        )


def test_a_run_without_a_mandate_is_written_down_as_it_always_was() -> None:
    bare, held = (
        msgspec.json.encode(run)
        for run in (RunInfo("r"), RunInfo("r", may=Mandate((layer_of("may", RENT),))))
    )
    assert b"may" not in bare
    assert msgspec.json.decode(bare, type=RunInfo) == RunInfo("r")
    assert msgspec.json.decode(held, type=RunInfo).mandate.layers == (layer_of("may", RENT),)


def test_a_decision_is_made_again_from_its_record(tmp_path: Path) -> None:
    shield = process(tmp_path, journal=open_trail(tmp_path / "trail"))
    with shield, process(tmp_path) as other:
        run = shield.run("a", id="job", may=["note", "pay"])
        narrowed = other.run("a", id="job", may=["note"])
        decisions = [run.check("pay", {"n": 1})]
        assert narrowed.check("note", {}).proceeds
        decisions += [run.check("pay", {"n": n}) for n in (2, 3)]
    assert [one.action for one in decisions] == [Action.ALLOW, Action.ESCALATE, Action.ESCALATE]
    reader = TrailReader(tmp_path / "trail")
    for made in decisions:
        found = reader.find(made.id)
        assert found is not None
        begun = reader.begun(found)
        assert begun is not None
        entry = found.entry()
        again = replay(shield.policy, begun.run, moment_of(entry, begun.run), inputs_of(entry))
        assert (again.action, again.findings) == (made.action, made.findings)


WRONG: Final = [
    (["send a mail"], "`send a mail` in `may` is neither an effect"),
    ([{"to": "x"}], "a mapping in `may` names a `tool`, or an `effect`"),
    ([{"tool": "pay", "effect": "read"}], "a mapping in `may` names a `tool`, or an `effect`"),
    ([{"effect": "outwards"}], "a mapping in `may` names a `tool`, or an `effect`"),
    ([{"tool": "pay", "amount": {"most": 3}}], "`amount` is no range"),
    ([{"tool": "pay", "amount": {}}], "`amount` is no range"),
    ([{"tool": "pay", "to": [["x"]]}], "`to` is no list of values"),
    ([{"tool": "pay", "to": None}], "`to` is no list of values"),
]


@pytest.mark.parametrize(("may", "said"), WRONG, ids=[said for _, said in WRONG])
def test_a_template_that_makes_no_sense_is_told(may: Any, said: str) -> None:
    with pytest.raises(PolicyError) as error:
        load_policy({**POLICY, "tasks": {"t": {"may": may}}})
    assert said in str(error.value)


PAYS: Final[dict[str, Any]] = {"tool": "pay", "to": ["GB1"]}


@pytest.mark.parametrize(
    ("old", "new", "loosens"),
    [
        (None, ["read"], False),
        (None, ["read", PAYS], True),  # values that a template names are asked about no more
        (["read"], None, True),
        (["read", "pay"], ["read"], False),
        (["read"], ["read", "pay"], True),
        (["read", PAYS], [PAYS], False),
        (["read", PAYS], ["read", {**PAYS, "to": ["GB2"]}], True),
    ],
)
def test_a_policy_that_lets_a_task_do_more_loosens(old: Any, new: Any, loosens: bool) -> None:
    policies = [
        load_policy(
            {**POLICY, "tasks": {"t": {"deadline_s": 60, **({} if one is None else {"may": one})}}}
        )
        for one in (old, new)
    ]
    assert bool(loosenings(*policies)) is loosens


def test_lint_tells_of_entries_that_no_tool_can_fit() -> None:
    schema = {"type": "object", "properties": {"to": {}}}
    policy = {
        "name": "p",
        "tools": {
            "pay": {"effect": "irreversible", "schema": schema},
            "send_mail": {"risk": "high"},
        },
        "tasks": {
            "t": {
                "may": ["send_mial", "sned", {"tool": "pay", "iban": ["x"]}, "send_*", "tool:pay"]
            }
        },
        "guards": [{"use": "schema"}],
    }
    found = [one for one in lint(policy).remarks if "mandate" in one.message]
    assert [(one.sure, one.message.partition(" in ")[0]) for one in found] == [
        ("likely", "no tool that is known fits `send_mial`"),
        ("info", "no tool that is known fits `sned`"),
        ("certain", "no call of `pay` has the argument `iban`, so none fits the mandate"),
    ]


def test_a_client_of_a_broker_can_only_shrink_it() -> None:
    with (
        Shield.load(POLICY) as shield,
        serving(shield) as path,
        Shield.load(f"broker:{path}") as far,
    ):
        with far.run("a", "look-up", may=["*", "pay"]) as run:
            assert asked(run) == ACTING
            assert asked(run.spawn("b", "other", may=["*"])) == ACTING
        with far.run("a", may=["note", "pay"]) as run:
            assert asked(run) == ACTING - {"note", "pay"}
            assert asked(run.spawn("b", may=["note", "send_mail"])) == ACTING - {"note"}
            assert asked(far.run("b", parent=run, may=["pay"])) == ACTING - {"pay"}
        with pytest.raises(ValueError, match="neither an effect"):
            far.run("a", may=["send a mail"])


def test_a_broker_that_begins_anew_knows_it_still(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_bytes(msgspec.yaml.encode(POLICY))
    file.chmod(0o600)
    with running(str(file), str(os.getuid())) as broker:
        far: Any = Shield.load(f"broker:{broker.socket}")
        with far:
            run = far.run("a", "rent", may=["note", "pay"])
            child = run.spawn("b", may=["pay"])
            good = {"to": "GB1", "amount": 1}
            assert run.check("note", {"kind": "memo"}).proceeds
            broker.end(signal.SIGKILL)
            wider = {**POLICY, "tasks": {}}
            file.write_bytes(msgspec.yaml.encode(wider))
            broker.start()
            assert run.check("note", {"kind": "memo"}).proceeds
            assert not run.check("note", {"kind": "other"}).proceeds
            assert child.check("pay", good).proceeds
            assert not child.check("note", {"kind": "memo"}).proceeds


def test_a_refused_call_says_what_to_do() -> None:
    def send_mail(to: str) -> str:
        return to

    with shield_for(POLICY).run("a", may=["read"]) as run:
        with pytest.raises(Refused) as raised:
            run.call(send_mail, to="x")
        assert "a person has been asked about this" in str(raised.value)
