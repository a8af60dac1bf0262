"""An overlay changes what it names, keeps everything else, and answers for its own lines."""

import pytest
from hypothesis import given, strategies as st

from stanchion.policy.composed import read_text
from stanchion.policy.document import Document, read_data
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.overlay import environment, extended, overlay, variants
from stanchion.policy.schema import any_file
from stanchion.policy.struct_check import check

BASE = """\
name: base
limits: {warnings: 5}
agents:
  scout: {role: reader, allowed_tools: [read, search]}
guards:
  - use: size_limits
  - {use: step_limit, max_steps: 9, warn_after: 5}
  - {id: no-rm, use: tool_denylist, tools: [rm]}
"""


def laid(over: str, under: str = BASE) -> Document:
    return overlay(read_text(under, "base.yaml"), read_text(over, "over.yaml"))


def data(over: str) -> dict[str, object]:
    document = laid(over)
    assert document.faults == ()
    whole: dict[str, object] = document.root.data()
    return whole


def test_mappings_merge_and_other_lists_are_replaced() -> None:
    merged = data("name: over\nagents:\n  scout: {allowed_tools: [read]}\n  other: {}\n")
    assert merged["agents"] == {"scout": {"role": "reader", "allowed_tools": ["read"]}, "other": {}}
    assert list(merged) == ["name", "limits", "agents", "guards"]
    assert merged["name"] == "over"


def test_null_removes_a_key_and_stays_where_there_is_none() -> None:
    merged = data("limits: null\nagents: {scout: {role: null}}\nmode: null\n")
    assert "limits" not in merged
    assert merged["agents"] == {"scout": {"allowed_tools": ["read", "search"]}}
    assert merged["mode"] is None


@pytest.mark.parametrize(
    ("entry", "at", "means"),
    [
        (
            "{id: no-rm, tools: [rm, dd]}",
            2,
            {"id": "no-rm", "use": "tool_denylist", "tools": ["rm", "dd"]},
        ),
        (
            "{use: step_limit, max_steps: 3}",
            1,
            {"use": "step_limit", "max_steps": 3, "warn_after": 5},
        ),
        (
            "{id: step-limit, warn_after: null}",
            1,
            {"use": "step_limit", "max_steps": 9, "id": "step-limit"},
        ),
        ("{use: tool_denylist, enabled: false}", 2, None),
        ("{id: no-rm, use: step_limit}", 2, {"id": "no-rm", "use": "step_limit"}),
        ("{id: new, use: step_limit}", 3, {"id": "new", "use": "step_limit"}),
        ("{use: safe_mode}", 3, {"use": "safe_mode"}),
    ],
)
def test_guards_merge_by_id_and_keep_their_order(entry: str, at: int, means: object) -> None:
    guards = data(f"guards: [{entry}]")["guards"]
    assert isinstance(guards, list)
    assert len(guards) == max(3, at + 1)
    assert [guard["use"] for guard in guards[:2]] == ["size_limits", "step_limit"]
    if means is None:
        means = {"id": "no-rm", "use": "tool_denylist", "tools": ["rm"], "enabled": False}
    assert guards[at] == means


def test_an_empty_list_removes_all() -> None:
    assert data("guards: []")["guards"] == []


@pytest.mark.parametrize(
    ("over", "says"),
    [
        (
            "guards:\n- {id: no-rn, tools: [x]}",
            "over.yaml:2:3: there is no entry `no-rn` to change: did you mean `no-rm`?",
        ),
        (
            "guards:\n- {id: no-rm}\n- {id: no-rm}",
            "over.yaml:3:3: `no-rm` is changed a second time: the first is at over.yaml:2:3",
        ),
    ],
)
def test_an_entry_that_changes_nothing_is_a_fault(over: str, says: str) -> None:
    (found,) = laid(over).faults
    assert says in str(found)


def test_a_use_that_stands_twice_needs_an_id() -> None:
    under = "guards: [{id: a, use: step_limit}, {id: b, use: step_limit}]"
    (found,) = laid("guards:\n- use: step_limit", under).faults
    assert (
        "over.yaml:2:3: 2 entries use `step_limit`: give the `id` of the one you mean: a, b"
        in str(found)
    )


def test_a_mistake_is_named_in_the_file_that_makes_it() -> None:
    document = laid(
        "agents:\n  scout:\n    rol: x\n"
        "guards:\n- use: step_limit\n  max_steps: x\n- id: no-rm\n  tools: null\nlimts: null\n"
    )
    found = [fault.place for fault in check(document, any_file())]
    assert found == ["over.yaml:3:5", "over.yaml:6:14", "over.yaml:7:3", "over.yaml:9:1"]
    document = laid("agents: {scout: {role: x}}", BASE.replace("role: reader", "rolle: reader"))
    (fault,) = check(document, any_file())
    assert fault.place == "base.yaml:4:11"


def test_what_went_in_stays_as_it_was() -> None:
    under = read_text(BASE, "base.yaml")
    before = under.root.data()
    overlay(under, read_text("limits: null\nguards: [{id: no-rm, tools: []}]", "over.yaml"))
    assert under.root.data() == before


ENVIRONMENTS = """\
environments:
  prod:
    limits: {warnings: 1}
    guards:
      - {id: no-rm, mode: shadow}
  dev:
"""


def test_an_environment_is_laid_over_the_rest() -> None:
    document = read_text(BASE + ENVIRONMENTS, "base.yaml")
    plain = environment(document, None).root.data()
    assert plain == read_text(BASE, "base.yaml").root.data()
    assert environment(document, "dev").root.data() == plain
    prod = environment(document, "prod")
    assert prod.faults == ()
    assert prod.root.data()["limits"] == {"warnings": 1}
    assert prod.root.data()["guards"][2]["mode"] == "shadow"
    assert check(prod, any_file()) == []


def test_every_variant_can_be_checked() -> None:
    text = BASE + ENVIRONMENTS.replace("mode: shadow", "mode: shadwo")
    found = {
        name: check(one, any_file()) for name, one in variants(read_text(text, "base.yaml")).items()
    }
    assert [name for name, faults in found.items() if faults] == ["prod"]
    assert str(found["prod"][0]).startswith(
        "base.yaml:13:27: `shadwo` is not a value of `mode`: did you mean `shadow`?"
    )
    assert set(found) == {None, "prod", "dev"}


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        (
            BASE + ENVIRONMENTS,
            "prd",
            "base.yaml:9:1: there is no environment `prd`: did you mean `prod`?",
        ),
        (
            BASE,
            "prod",
            "base.yaml:1:1: there is no environment `prod`: add it under `environments`",
        ),
        ("environments: [prod]", None, "base.yaml:1:15: `environments` is not a mapping"),
        (
            "environments: {prod: 3}",
            None,
            "base.yaml:1:22: the environment `prod` is not a mapping",
        ),
        (
            "environments: {prod: {extends: x}}",
            "prod",
            "base.yaml:1:23: `extends` has no place in an environment",
        ),
    ],
)
def test_a_wrong_environment_is_a_fault(text: str, name: str | None, says: str) -> None:
    (found,) = environment(read_text(text, "base.yaml"), name).faults
    assert says in str(found)


FILES = {
    "one": "name: one\nlimits: {warnings: 1}\nguards: [{use: size_limits}]\n",
    "two": "extends: one\nname: two\nguards: [{use: step_limit}]\n",
    "three": "name: three\nmode: shadow\n",
    "ring": "extends: gnir\n",
    "gnir": "extends: [one, ring]\n",
    "bad": "a: 1\na: 2\n",
    "empty": "",
    "remarks": "# name: one\n",
    "nothing": "{}\n",
    "words": "\njust words\n",
    "list": "- name: one\n",
}


def find(name: str, _origin: str) -> Document:
    if name not in FILES:
        raise PolicyError([Fault(name, "no such policy: give another")])
    return read_text(FILES[name], name)


def test_a_file_lies_over_what_it_extends() -> None:
    document = extended(read_text("extends: [two, three]\nlimits: {warnings: 7}\n", "own"), find)
    assert document.faults == ()
    assert document.origin == "own"
    assert document.root.data() == {
        "name": "three",
        "limits": {"warnings": 7},
        "guards": [{"use": "size_limits"}, {"use": "step_limit"}],
        "mode": "shadow",
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("extends: on", "own:1:10: `on` cannot be extended: no such policy"),
        ("extends: [one, 3]", "own:1:16: `3` was found where the name of a policy is expected"),
        ("extends: {a: b}", "own:1:10: a mapping was found where the name of a policy is expected"),
        ("extends: ring", "gnir:1:16: `ring` extends itself (ring → gnir → ring)"),
        ("extends: bad", "bad:2:1: `a` appears here a second time"),
        (
            "extends: empty",
            "empty:1:1: there is nothing in it: write a policy, or extend another file",
        ),
        ("extends: [one, remarks]", "remarks:1:1: there is nothing in it"),
        ("extends: nothing", "nothing:1:1: there is nothing in it"),
        ("extends: words", "words:2:1: `just words` was found where a policy is expected"),
        ("extends: list", "list:1:1: a list was found where a policy is expected"),
    ],
)
def test_what_cannot_be_extended_is_a_fault(text: str, says: str) -> None:
    (found,) = extended(read_text(text, "own"), find).faults
    assert says in str(found)


scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["a", "b", "step_limit"])
trees = st.recursive(
    scalars,
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "use", "x", "y"]), below)
    ),
    max_leaves=12,
)


@given(under=trees, over=trees)
def test_any_two_documents_merge_key_by_key(under: object, over: object) -> None:
    merged = overlay(read_data(under, "under"), read_data(over, "over")).root.data()
    _merged_well(under, over, merged)


def _merged_well(under: object, over: object, merged: object) -> None:
    if isinstance(under, dict) and isinstance(over, dict):
        assert isinstance(merged, dict)
        gone = {key for key in over if key in under and over[key] is None}
        assert list(merged) == [key for key in dict.fromkeys([*under, *over]) if key not in gone]
        for key in merged:
            if key in under and key in over:
                _merged_well(under[key], over[key], merged[key])
            else:
                assert merged[key] == (over[key] if key in over else under[key])
    elif (
        not isinstance(under, list) or not over or not any(isinstance(item, dict) for item in under)
    ):
        assert merged == over
