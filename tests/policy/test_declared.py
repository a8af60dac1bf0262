"""What is declared of a tool: the words, who says them, and whose word holds."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.kernel.actions import Risk
from stanchion.kernel.declared import Declared, ToolKnown, sink_values
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion.policy.loosening.compare import loosenings
from stanchion.runtime.calling.tool import Tool


def known(tool: str, *said: Declared, **tools: dict[str, Any]) -> tuple[Any, ...]:
    """What a policy with these entries knows of a tool of which the code says this."""
    return all_known(tool, *said, **tools)[:3]


def all_known(tool: str, *said: Declared, **tools: dict[str, Any]) -> ToolKnown:
    """The same with what its results are."""
    flow = {"use": "flow"}
    return load_policy({"name": "p", "tools": tools, "guards": [flow]}).known(tool, *said)


def test_nobody_says_anything() -> None:
    assert known("pay") == (Risk.MEDIUM, ("content",), ())


def test_the_exact_name_wins_over_a_glob_and_the_longer_glob_over_the_shorter() -> None:
    tools: Any = {
        "*": {"effect": "irreversible", "sinks": ["x"]},
        "pay_*": {"effect": "outward", "result": "records"},
        "pay_fee": {"effect": "read", "annotations": ["once"]},
    }
    assert known("pay_fee", **tools)[1:] == (("read", "once", "content"), ())
    assert known("pay_rent", **tools)[1:] == (("outward", "records"), ())
    assert known("other", **tools)[1:] == (("irreversible", "content"), ("x",))


MILD = Declared(Risk.LOW, "read", "user", ("a",))
STRICT = Declared(Risk.HIGH, "irreversible", "content", ("b",))


@pytest.mark.parametrize("said", [(MILD, STRICT), (STRICT, MILD)])
def test_the_strictest_word_holds_whoever_says_it_and_when(said: tuple[Declared, ...]) -> None:
    risk, traits, sinks = known("pay", *said)
    assert (risk, traits, set(sinks)) == (Risk.HIGH, ("irreversible", "content"), {"a", "b"})


def test_code_is_heard_where_the_policy_says_nothing_and_loosens_nothing_that_it_says() -> None:
    assert known("pay", MILD) == (Risk.LOW, ("read", "user"), ("a",))
    entry: Any = {"effect": "privilege", "sinks": ["to"]}
    assert known("pay", MILD, pay=entry) == (Risk.MEDIUM, ("privilege", "content"), ("a", "to"))
    assert known("pay", STRICT, pay={"effect": "read"})[1] == ("irreversible", "content")


FORMER = [
    ({"annotations": ["read_only"]}, "write `effect: read` in the tool's entry"),
    ({"annotations": ["once", "destructive"]}, "write `effect: irreversible`"),
    ({"annotations": ["irreversible"]}, "write `effect: irreversible`"),
    ({"trust": "web"}, "`result: content` for `untrusted` and `web`"),
    ({"effect": "destructive"}, "did you mean `irreversible`?"),
    ({"result": "untrusted"}, "did you mean `content`?"),
]


@pytest.mark.parametrize(("entry", "instead"), FORMER)
def test_a_former_word_of_a_tool_names_the_one_in_its_place(
    entry: dict[str, Any], instead: str
) -> None:
    with pytest.raises(PolicyError) as error:
        load_policy({"name": "p", "tools": {"pay": entry}})
    assert "tools.pay." in str(error.value)
    assert instead in str(error.value)


@pytest.mark.parametrize(
    ("guard", "instead"),
    [
        ({"use": "rule", "when": "'web' in event.traits"}, "write `'content'`"),
        ({"use": "rule", "when": "not ('read_only' in event.traits)"}, "write `'read'`"),
        ({"use": "recovery", "fatal": ["destructive"]}, "write `irreversible`"),
    ],
)
def test_a_guard_that_asks_for_a_former_word_does_not_load(
    guard: dict[str, Any], instead: str
) -> None:
    """It would wait for a word that nobody says."""
    with pytest.raises(PolicyError) as error:
        load_policy({"name": "p", "guards": [guard]})
    assert instead in str(error.value)


def test_a_word_of_that_kind_in_another_list_is_not_meant() -> None:
    load_policy({"name": "p", "guards": [{"use": "rule", "when": "event.args.kind in ['web']"}]})


CHANGES = [
    ({"effect": "irreversible"}, {"effect": "read"}, ["effect"]),
    ({"effect": "irreversible"}, {}, ["effect"]),
    ({}, {"effect": "read"}, ["effect"]),
    ({}, {"result": "trusted"}, ["result"]),
    ({"result": "records"}, {"result": "user"}, ["result"]),
    ({"result": "user"}, {"result": "content"}, []),
    ({"result": "records"}, {}, []),
    ({}, {"result": "records"}, ["result"]),
    ({}, {"result": "content"}, []),
    ({"result": "content"}, {}, ["result"]),
    ({}, {"records": "[{id}]"}, ["records"]),
    ({"identity_fields": ["id"]}, {"identity_fields": ["id", "name"]}, ["identity_fields"]),
    ({"sinks": ["to", "cc"]}, {"sinks": ["to"]}, ["sinks"]),
    ({"sinks": ["to"]}, {"sinks": ["to", "cc"]}, []),
]


@pytest.mark.parametrize(("old", "new", "loosened"), CHANGES)
def test_a_milder_word_loosens(
    old: dict[str, Any], new: dict[str, Any], loosened: list[str]
) -> None:
    flow = {"use": "flow"}
    was, now = [
        load_policy({"name": "p", "tools": {"pay": one}, "guards": [flow]}) for one in (old, new)
    ]
    found = [str(one) for one in loosenings(was, now)]
    assert len(found) == len(loosened)
    assert all(word in said for word, said in zip(loosened, found, strict=True))


def test_an_approval_that_stands_leaves_no_sink_open() -> None:
    approved = {
        "tool": "pay",
        "args": {"amount": 1},
        "patterns": {"to": "shop-*"},
        "guards": ["tools.pay.ask"],
        "agents": ["a"],
        "tasks": ["t"],
        "until": "2099-12-31",
    }
    policy: Any = {"name": "p", "tools": {"pay": {"ask": True}}, "approved": {"x": approved}}
    load_policy(policy)
    policy["tools"]["pay"]["sinks"] = ["to"]
    with pytest.raises(PolicyError, match="`to` says what `pay` acts on"):
        load_policy(policy)


def test_a_sink_may_stand_inside_of_a_mapping() -> None:
    args = {"to": "bob", "message": {"cc": ["eve"]}}
    assert sink_values(("to", "message.cc", "message.cc.x", "none"), args) == {
        "to": "bob",
        "message.cc": ["eve"],
        "message.cc.x": None,
        "none": None,
    }


LINE = "[{id}] From: {from}"
TRUSTED, RECORDS = Declared(result="trusted"), Declared(result="records", records=LINE)


def test_results_of_which_nobody_speaks_are_not_said_to_be_content() -> None:
    """They count as content for everybody but for those that look for records in them."""
    silent: Any = {"risk": "low"}
    assert all_known("read").result == ""
    assert (all_known("read", read=silent).result, known("read", read=silent)[1]) == (
        "",
        ("content",),
    )
    assert all_known("read", read={"result": "content"}).result == "content"
    assert all_known("read", RECORDS, read=silent).result == "records"
    assert known("read", RECORDS, read=silent)[1] == ("content",)
    assert all_known("read", TRUSTED, read=silent).result == ""
    assert all_known("read", TRUSTED).result == "trusted"


def test_the_line_of_a_record_is_the_policys_own_or_that_of_its_code() -> None:
    own: Any = {"records": "{id}: {title}", "identity_fields": ["id"]}
    code = RECORDS._replace(identity_fields=("id", "from"))
    assert all_known("read", code)[4:] == (LINE, ("id", "from"))
    assert all_known("read", code, read=own)[4:] == ("{id}: {title}", ("id",))
    assert RECORDS.is_in(all_known("read", RECORDS))
    assert not RECORDS.is_in(all_known("read", Declared(result="records")))


WRONG = [
    ({"records": "{id}{from}"}, "has nothing between `id` and `from`"),
    ({"records": "From: me"}, "would begin a record at every line, or at none"),
    ({"records": "{id}"}, "would begin a record at every line, or at none"),
    ({"records": "[{id}] {id}"}, "has the field `id` twice"),
    ({"records": "[{}]"}, "has `{}`, which is no field"),
    ({"records": "[{id:5}]"}, "has `{id:5}`, which is no field"),
    ({"records": "[{id]"}, "has `{`, which is no field"),
    ({"records": "[{id}]\n{from}"}, "is more than one line"),
    ({"records": "[{id}]", "result": "content"}, "say `result: records`"),
    ({"identity_fields": ["id"], "result": "content"}, "say `result: records`"),
]


@pytest.mark.parametrize(("entry", "message"), WRONG)
def test_a_line_that_leaves_its_fields_in_doubt_does_not_load(
    entry: dict[str, Any], message: str
) -> None:
    with pytest.raises(PolicyError) as error:
        load_policy({"name": "p", "guards": [{"use": "flow"}], "tools": {"read": entry}})
    assert f"tools.read.{next(iter(entry))}" in str(error.value)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ({"me": ["ann@x.example"]}, "`me`"),
        ({"identity_fields": ["id"]}, "`identity_fields`"),
        ({"tools": {"read": {"records": LINE}}}, "`tools.read.records`"),
        ({"tools": {"read": {"identity_fields": ["id"]}}}, "`tools.read.identity_fields`"),
    ],
)
def test_what_only_the_origin_of_values_is_known_by_needs_a_guard(
    said: dict[str, Any], place: str
) -> None:
    with pytest.raises(PolicyError, match=f"nothing acts on {place}: add a guard with `use: flow`"):
        load_policy({"name": "p", **said})
    load_policy({"name": "p", **said, "guards": [{"use": "flow"}]})


def test_more_own_addresses_loosen_and_fewer_do_not() -> None:
    few, more = [
        load_policy({"name": "p", "me": me, "guards": [{"use": "flow"}]})
        for me in (["a"], ["a", "b"])
    ]
    assert [str(one) for one in loosenings(more, few)] == []
    assert "me" in str(loosenings(few, more)[0])


def test_code_may_say_how_its_records_begin() -> None:
    def read(folder: str) -> str:
        return folder

    tool = Tool(read, records=LINE, identity_fields=["id"])
    assert tool.declared == Declared(records=LINE, identity_fields=("id",))
    with pytest.raises(ValueError, match="has nothing between"):
        Tool(read, records="{id}{from}")
