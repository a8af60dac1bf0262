"""A policy file is read as its author means it, every mistake has a line and a column, and nothing
explodes."""

import json
from enum import StrEnum
from typing import Any

import pytest
import yaml

from stanchion.policy.composed import MAX_CHARS, read_text
from stanchion.policy.document import MAX_DEPTH, MAX_VALUES, UNREADABLE, read_data


@pytest.fixture(params=["c", "python"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test here holds with the parser in C and with the one in Python."""
    if request.param == "python":
        monkeypatch.delattr(yaml, "CSafeLoader")


def fault(text: str, origin: str = "p.yaml") -> str:
    (found,) = read_text(text, origin).faults
    return str(found)


def value(text: str) -> Any:
    document = read_text(f"a: {text}\n", "p.yaml")
    assert document.faults == ()
    return document.root.data()["a"]


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("Off", "Off"),
        ("null", None),
        ("~", None),
        ("", None),
        ("'null'", "null"),
        ("12", 12),
        ("-3", -3),
        ("+3", 3),
        ("0", 0),
        ("0o17", 15),
        ("0x1F", 31),
        ("010", "010"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("190:20:30", "190:20:30"),
        ("2026-01-01", "2026-01-01"),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("1.2.3", "1.2.3"),
        ('"12"', "12"),
        ("!!str 12", "12"),
        ("! 12", "12"),
        ("!!int 12", 12),
        ("!!float 1.5", 1.5),
        ("!!map {x: 1}", {"x": 1}),
        ("9007199254740991", 2**53 - 1),
        ("=", "="),
        ("|\n  x\n  y\n", "x\ny\n"),
    ],
)
def test_a_scalar_means_what_it_looks_like(text: str, means: object) -> None:
    assert value(text) == means
    assert type(value(text)) is type(means)


def test_a_key_is_text_as_it_is_written() -> None:
    document = read_text(
        "007: a\non: b\n1.0: c\ntrue: d\n'null': e\n&k x: f\n*k : g\n? y\n: h\n", "p.yaml"
    )
    assert list(document.root.data()) == ["007", "on", "1.0", "true", "null", "x", "y"]
    assert [str(found) for found in document.faults] == [
        "p.yaml:7:1: `x` appears here a second time: the first is at p.yaml:6:1"
    ]


def test_a_key_may_look_like_a_number_that_no_value_may_be() -> None:
    document = read_text("99999999999999999999: a\n.nan: b\n", "p.yaml")
    assert (document.root.data(), document.faults) == (
        {"99999999999999999999": "a", ".nan": "b"},
        (),
    )


def test_places_and_text_as_written() -> None:
    document = read_text(
        "name: x\nversion: 1.0\nguards:\n  - use: step_limit\n    max_steps: 0x10\n", "p.yaml"
    )
    assert str(document.place("guards", 0, "max_steps")) == "p.yaml:5:16"
    assert str(document.key_place("guards", 0, "max_steps")) == "p.yaml:5:5"
    assert str(document.place("guards", 0)) == "p.yaml:4:5"
    assert str(document.place("guards", 7, "id")) == "p.yaml:4:3"
    assert str(document.key_place("guards", 0)) == "p.yaml:4:5"
    assert document.written("version") == "1.0"
    assert document.written("guards") is None
    assert document.written("guards", 0, "use") == "step_limit"
    assert document.written("nothing", "there") is None


def test_an_alias_stands_at_its_own_place_and_its_parts_where_they_are_written() -> None:
    document = read_text("a: &x\n  b: 1\nc: *x\n", "p.yaml")
    assert document.root.data() == {"a": {"b": 1}, "c": {"b": 1}}
    assert str(document.place("c")) == "p.yaml:3:4"
    assert str(document.place("c", "b")) == "p.yaml:2:6"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "a: 1\nb: 2\na: 3\n",
            "p.yaml:3:1: `a` appears here a second time: the first is at p.yaml:1:1",
        ),
        ("a: {b: 1, 'b': 2}", "p.yaml:1:11: `b` appears here a second time"),
        ("a: !foo 3", "p.yaml:1:4: the tag `!foo` is not known"),
        ("a: !foo {b: 1}", "p.yaml:1:4: the tag `!foo` is not known"),
        (
            "a: !!python/object:os.system {}",
            "p.yaml:1:4: the tag `tag:yaml.org,2002:python/object:os.system`",
        ),
        ("a: !!binary aGk=", "p.yaml:1:4: the tag"),
        ("a: !!int x", "p.yaml:1:4: `x` is not of its type `!!int`"),
        ("a: !!map x", "p.yaml:1:4: "),
        ("a: !!str {}", "p.yaml:1:4: the tag"),
        ("a: *b", "p.yaml:1:4: the alias `*b` is not defined"),
        ("a: &b [*b]", "p.yaml:1:8: the alias `*b` is not defined"),
        ("a: 1\n---\nb: 2\n", "p.yaml:2:1: a second document begins here"),
        ("a: 1\n...\nb: 2\n", "p.yaml:3:1: "),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "p.yaml:3:3: `<<` is not part of the format"),
        ("[a, b]: 1", "p.yaml:1:1: a key is one word here"),
        ("~: 1", "p.yaml:1:1: the key is missing"),
        ("a: .inf", "p.yaml:1:4: `.inf` is not a finite number"),
        ("a: -.INF", "p.yaml:1:4: `-.INF` is not a finite number"),
        ("a: .NaN", "p.yaml:1:4: `.NaN` is not a finite number"),
        ("a: 1e999", "p.yaml:1:4: `1e999` is not a finite number"),
        ("a: 9007199254740992", "p.yaml:1:4: `9007199254740992` is too big"),
        ("a: -9007199254740992", "p.yaml:1:4: `-9007199254740992` is too big"),
        ("a: " + "9" * 9_000, "is too big"),
        ("a:\n\t- 1\n", "p.yaml:2:1: this line is indented with a tab"),
        ("a: 'x", "p.yaml:1:"),
        ("a: b: c", "p.yaml:1:5: is not YAML"),
        ("a: [1, 2", "p.yaml:1:"),
        ("a: 1\n b: 2\n", "p.yaml:2:3: is not YAML"),
        ("a: @x", "p.yaml:1:4: is not YAML"),
        ("a: 1\nb: \0", "p.yaml:2:4: the character U+0000 is not allowed"),
        ("a: 1\r\nb: \x07", "p.yaml:2:4: the character U+0007 is not allowed"),
        ("a: \u2028", "p.yaml:1:4: the character U+2028 is not allowed"),
        ("a: \ud800", "p.yaml:1:4: the character U+D800 is not allowed"),
        ('a: "\\0"', "p.yaml:1:4: the character U+0000 has no place in text"),
        ('a: "\\UFFFFFFFF"', "p.yaml:1:"),
        ('a: "\\U00110000"', "p.yaml:1:"),
        ('a: "\\ud800"', "p.yaml:1:"),
        ("%YAML 3.0\n---\na: 1\n", "p.yaml:1:1: is not YAML"),
    ],
)
def test_a_mistake_has_its_line_and_column(text: str, says: str) -> None:
    assert says in fault(text)


def test_a_mistake_leaves_the_rest_readable() -> None:
    document = read_text("a: !x 1\nb: 2\nb: 3\nc: .nan\n", "p.yaml")
    assert len(document.faults) == 3
    assert document.root.data() == {"a": UNREADABLE, "b": 2, "c": UNREADABLE}


def test_an_empty_file_is_null() -> None:
    for text in ("", "\n\n", "# nothing\n", "---\n", "\ufeff"):
        document = read_text(text, "p.yaml")
        assert (document.root.value, document.faults) == (None, ())


def test_no_place_lies_behind_the_end() -> None:
    for text in ("---\n# x", "a: 'x", "a: [", "--- # x", "a:\n  - |"):
        document = read_text(text, "p.yaml")
        places = [str(document.place()), *[found.place for found in document.faults]]
        assert all(int(place.split(":")[1]) <= text.count("\n") + 1 for place in places), text


def test_a_byte_order_mark_is_passed_over() -> None:
    assert read_text("\ufeffa: 1", "p.yaml").root.data() == {"a": 1}


def laughs(levels: int, width: int) -> str:
    lines = ["a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join(lines)


def test_aliases_that_multiply_are_stopped_before_they_are_built() -> None:
    assert f"more than {MAX_VALUES} values" in fault(laughs(30, 9))
    assert read_text(laughs(4, 9), "p.yaml").faults == ()


def test_depth_is_bounded_with_and_without_aliases() -> None:
    deep = f"nested deeper than {MAX_DEPTH}"
    assert deep in fault("[" * 100_000)
    assert deep in fault("- " * 1_000)
    assert deep in fault("{a: " * 1_000)
    assert deep in fault(laughs(100, 1))
    assert read_text(laughs(MAX_DEPTH - 2, 1), "p.yaml").faults == ()


def test_a_file_that_is_too_long_is_not_read() -> None:
    assert f"more than {MAX_CHARS} characters" in fault("#" * (MAX_CHARS + 1))


def test_json_is_read_with_its_lines() -> None:
    data = {
        "name": "x",
        "guards": [
            {"use": "step_limit", "max_steps": 3, "enabled": True, "id": None, "text": "é\n"}
        ],
    }
    assert read_text(json.dumps(data, indent="\t"), "p.json").root.data() == data
    document = read_text(json.dumps(data, indent=1), "p.json")
    assert (document.root.data(), document.faults) == (data, ())
    assert str(document.place("guards", 0, "max_steps")) == "p.json:6:17"


def test_json_that_no_yaml_parser_reads_is_read_by_path() -> None:
    document = read_text('{"a"\n: "\\ud83d\\ude00"}', "p.json")
    assert (document.root.data(), document.faults) == ({"a": "😀"}, ())
    assert str(document.place("a")) == "p.json: a"
    twice = read_text('{"b": 1, "b": 2, "a"\n: "\\ud83d\\ude00"}', "p.json").faults
    assert [found.place for found in twice] == ["p.json:1:10", "p.json:2:1"]


class Stage(StrEnum):
    CALL = "tool_call"


def test_data_is_copied_as_plain_data() -> None:
    given = {"stages": (Stage.CALL,), "n": 1, "f": 1.0, "b": True, "none": None}
    document = read_data(given)
    given["n"] = 2
    assert document.root.data() == {
        "stages": ["tool_call"],
        "n": 1,
        "f": 1.0,
        "b": True,
        "none": None,
    }
    assert type(document.root.data()["stages"][0]) is str
    assert document.written("f") == "1.0"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"a": {1: 2}}, "policy: a[1]: the key `1` is not text"),
        ({True: 2}, "policy: True: the key `True` is not text"),
        ({10**5_000: 2}, "the key `int` is not text"),
        ({"a": {"x"}}, "policy: a: a value of type `set` has no place in a policy"),
        ({"a": [b"x"]}, "policy: a[0]: a value of type `bytes`"),
        ({"a": float("inf")}, "policy: a: this number is not a finite number"),
        ({"a": 10**5_000}, "policy: a: this number is too big"),
        ({"a": "\ud800"}, "policy: a: the character U+D800"),
        ({"\0": 1}, "the character U+0000"),
    ],
)
def test_data_that_is_not_plain_is_faulted_by_path(data: object, says: str) -> None:
    (found,) = read_data(data).faults
    assert says in str(found)


def test_data_that_holds_itself_is_stopped() -> None:
    ring: list[Any] = []
    ring += [ring, ring]
    (found,) = read_data({"a": ring}).faults
    assert "nested deeper" in found.message
