"""The checker says everything that is wrong with a document, and agrees with the schema on what is
right."""

from random import Random
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given, strategies as st

from stanchion.policy.composed import read_text
from stanchion.policy.document import read_data
from stanchion.policy.errors import PolicyError
from stanchion.policy.schema import any_file
from stanchion.policy.struct_check import check, convert
from tests.policy.drawn_policies import JUNK, draw
from tests.properties.examples import sample


def faults(text: str, kind: Any = None) -> list[str]:
    return [
        str(fault)
        for fault in check(read_text(text, "p.yaml"), any_file() if kind is None else kind)
    ]


def accepted(data: Any, kind: Any) -> bool:
    try:
        msgspec.convert(data, kind)
    except msgspec.ValidationError:
        return False
    return True


SCHEMA = msgspec.inspect.type_info(any_file())


@sample(400)
@given(seed=st.integers(0, 2**32 - 1), wrong=st.sampled_from([0.0, 0.01, 0.05, 0.3]))
def test_the_checker_agrees_with_the_schema(seed: int, wrong: float) -> None:
    data = draw(SCHEMA, Random(seed), wrong)
    document = read_data(data)
    assert document.faults == ()
    found = check(document, any_file())
    assert accepted(data, any_file()) == (not found), found
    assert all(fault.place.startswith("policy") for fault in found)


def test_the_drawn_policies_are_right_and_wrong_ones() -> None:
    seen = {accepted(draw(SCHEMA, Random(seed), 0.01), any_file()) for seed in range(50)}
    assert seen == {True, False}


class Bounds(msgspec.Struct, forbid_unknown_fields=True):
    at_least: Annotated[int, msgspec.Meta(ge=3)] = 3
    above: Annotated[float, msgspec.Meta(gt=0)] = 1
    at_most: Annotated[int, msgspec.Meta(le=3)] = 3
    below: Annotated[float, msgspec.Meta(lt=3)] = 1
    even: Annotated[int, msgspec.Meta(multiple_of=2)] = 2
    word: Annotated[str, msgspec.Meta(min_length=1, max_length=3, pattern="^[a-z]*$")] = "a"
    few: Annotated[list[int], msgspec.Meta(min_length=1, max_length=2)] | None = None
    pair: tuple[int, str] = (1, "a")
    level: Literal[1, 2] = 1
    maybe: Literal["a", None] = None
    keyed: dict[Annotated[str, msgspec.Meta(min_length=2)], int | float | None] = {}
    free: Any = None


class Open(msgspec.Struct):
    inner: Bounds | None = None
    names: set[str] = set()
    flag: bool | int = True


@pytest.mark.parametrize("kind", [Bounds, Open])
def test_every_sort_of_field_agrees_with_the_schema(kind: type[msgspec.Struct]) -> None:
    values = [
        *JUNK,
        1,
        2,
        3,
        4,
        -3,
        0.5,
        3.0,
        "abc",
        "abcd",
        "A",
        [1, "a"],
        [1, 2, 3],
        [1],
        {"xy": 1.5},
        {"xy": "1"},
    ]
    for name in [*kind.__struct_fields__, "other"]:
        for value in values:
            data = {name: value}
            found = check(read_data(data), kind)
            assert accepted(data, kind) == (not found), (data, found)


CASES = [
    ("nmae: x\nname: y\n", "p.yaml:1:1: the key `nmae` is not known: did you mean `name`?"),
    (
        "name: y\nmode: Shaddow\n",
        "p.yaml:2:7: `Shaddow` is not a value of `mode`: did you mean `shadow`?",
    ),
    (
        "name: y\nmode: 3\n",
        "p.yaml:2:7: `3` was found where one of `enforce`, `shadow` is expected",
    ),
    ("version: 1.0\n", "p.yaml:1:1: `name` is missing: add it, such as `name: "),
    (
        "name: 404\n",
        'p.yaml:1:7: `404` was found where text is expected: put it in quotes: `"404"`',
    ),
    ("", "p.yaml:1:1: nothing was found where a mapping is expected"),
    ("- name\n", "p.yaml:1:1: a list was found where a mapping is expected"),
    (
        "name: y\ntools: {a: {timeout_s: true}}\n",
        "p.yaml:2:24: `true` was found where a number is expected",
    ),
    (
        "name: y\ntools: {a: {timeout_s: 0}}\n",
        "p.yaml:2:24: `0` is out of bounds: give a number above 0",
    ),
    (
        "name: y\ntools: {a: {timeout_s: x}}\n",
        "p.yaml:2:24: the text `x` was found where a number is expected",
    ),
    (
        "name: y\nlimits: {warnings: 2.0}\n",
        "p.yaml:2:20: `2.0` was found where a whole number is expected",
    ),
    (
        "name: y\nlimits: {warnings: 010}\n",
        "p.yaml:2:20: the text `010` was found where a whole number is expected: write `10`",
    ),
    ("name: y\nguards:\n- {}\n", "p.yaml:3:3: `use` is missing: add one, such as `use: "),
    (
        "name: y\nguards:\n- use: step_limits\n",
        "p.yaml:3:8: `step_limits` is not a value of `use`: did you mean `step_limit`?",
    ),
    (
        "name: y\nguards:\n- use: step_limit\n  enabled: no\n",
        "p.yaml:4:12: the text `no` was found where `true` or `false`",
    ),
    ("name: y\nguards:\n- use: step_limit\n  enabled: no\n", "write `false`"),
    (
        "name: y\nguards:\n- use: step_limit\n  max_chars: 3\n",
        "p.yaml:4:3: `max_chars` is not an option of `step_limit`",
    ),
    (
        "name: y\nguards:\n- use: tool_denylist\n",
        "p.yaml:3:3: `tools` is missing: add it, such as `tools: [my-tool]`",
    ),
    ("name: y\nguards:\n- use: tool_denylist\n  tools: rm\n", "put it in brackets: `[rm]`"),
    ("name: y\nagents:\n  007: 3\n", "p.yaml:3:8: `3` was found where a mapping is expected"),
]


@pytest.mark.parametrize(("text", "says"), CASES)
def test_a_mistake_is_named_at_its_place(text: str, says: str) -> None:
    (found,) = faults(text)
    assert says in found


def test_all_mistakes_are_found_at_once_and_in_order() -> None:
    text = (
        "mode: x\nguards:\n- use: nothing\n  id: 3\n  max_stepz: 1\n- use: step_limit\n  per: "
        "runn\nname: a\nname: b\n"
    )
    with pytest.raises(PolicyError) as refused:
        convert(read_text(text, "p.yaml"), any_file())
    assert [fault.place for fault in refused.value.faults] == [
        "p.yaml:1:7",
        "p.yaml:3:8",
        "p.yaml:4:7",
        "p.yaml:5:3",
        "p.yaml:7:8",
        "p.yaml:9:1",
    ]


def test_data_parsed_elsewhere_is_faulted_by_path() -> None:
    with pytest.raises(PolicyError) as refused:
        convert(
            read_data(
                {
                    "name": "x",
                    "agents": {"a b": {"rol": 1}},
                    "guards": [{"use": "step_limit", "per": 3}],
                }
            ),
            any_file(),
        )
    first, second = refused.value.faults
    assert first.place == "policy: agents[a b].rol"
    assert second.place == "policy: guards[0].per"


def test_what_is_right_is_converted() -> None:
    file = convert(
        read_text("name: x\nversion: 1.10\nguards:\n- use: step_limit\n  max_steps: 3\n", "p.yaml"),
        any_file(),
    )
    assert file.name == "x"
    assert file.guards[0].max_steps == 3


class Checked(msgspec.Struct):
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low is above high")


class Holder(msgspec.Struct):
    ranges: list[Checked]


def test_what_only_the_struct_sees_is_faulted_at_the_nearest_place() -> None:
    with pytest.raises(PolicyError, match=r"p.yaml:3:3: low is above high"):
        convert(read_text("ranges:\n- {low: 1, high: 2}\n- {low: 3, high: 2}\n", "p.yaml"), Holder)
