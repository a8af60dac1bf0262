"""JSON of other programs, changed in place: what is not changed stays to the letter."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.hosts.foreign_file import FileChanged, read_foreign, write_foreign
from stanchion.hosts.json_text import NotJson, read_json, rewritten

NAMES = st.sampled_from(["a", "b", "hooks", "//", "é", '"'])
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", "/*", ",}"]))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
DATA = st.dictionaries(NAMES, VALUES, max_size=4)
NOTE = st.sampled_from(["", "", " ", "\n", "\r\n\t", ' // it\'s [a] {note}, "x"\n', " /* , } */ "])


@st.composite
def laid_out(draw: Any, data: Any) -> str:
    """Data as a text, with comments, last commas and space of every kind."""

    def written(value: Any) -> str:
        if not isinstance(value, dict | list):
            return json.dumps(value)
        if isinstance(value, dict):
            parts = [
                f"{json.dumps(name)}{space()}:{space()}{written(one)}"
                for name, one in value.items()
            ]
        else:
            parts = [written(one) for one in value]
        inner = ",".join(f"{space()}{part}{space()}" for part in parts)
        last = "," if parts and draw(st.booleans()) else ""
        opens, closes = "{}" if isinstance(value, dict) else "[]"
        return f"{opens}{inner}{last}{space()}{closes}"

    def space() -> str:
        return str(draw(NOTE))

    return f"{space()}{written(data)}{space()}"


def comments(text: str) -> list[str]:
    """The comments of a text, in their order."""
    parts = re.findall(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', text, re.DOTALL)
    return [part.strip() for part in parts if not part.startswith('"')]


@given(st.data(), DATA, DATA)
def test_a_text_with_other_data_reads_as_that(draw: st.DataObject, old: Any, new: Any) -> None:
    text = draw.draw(laid_out(old))
    assert read_json(text) == old
    made = rewritten(text, new)
    assert read_json(made) == new
    assert rewritten(made, new) == made


@given(st.data(), DATA, VALUES)
def test_what_is_added_and_taken_out_again_leaves_nothing(
    draw: st.DataObject, old: dict[str, Any], value: Any
) -> None:
    text = draw.draw(laid_out(old))
    made = rewritten(text, {**old, "added": value})
    assert comments(made) == comments(text)
    back = rewritten(made, old)
    assert re.sub(r"\s", "", back) == re.sub(r"\s", "", text)


@given(DATA, VALUES, st.sampled_from([None, 2, "\t"]))
def test_as_programs_write_it_nothing_at_all_is_left(old: Any, value: Any, indent: Any) -> None:
    text = json.dumps(old, indent=indent, ensure_ascii=False)
    back = rewritten(rewritten(text, {**old, "added": value}), old)
    assert back == text if old else back == "{\n}"


CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "empty": ("{}", {"a": [1]}, '{\n  "a": [1]\n}'),
    "one line": ('{"b": 2}', {"b": 2, "a": {"c": 1}}, '{"b": 2, "a": {"c": 1}}'),
    "tabs": ('{\n\t"b": 2 // two\n}\n', {"b": 2, "a": 1}, '{\n\t"b": 2, // two\n\t"a": 1\n}\n'),
    "last comma": ('{\n  "b": 2,\n}', {"b": 2, "a": 1}, '{\n  "b": 2,\n  "a": 1,\n}'),
    "windows": ('{\r\n  "b": []\r\n}', {"b": [1]}, '{\r\n  "b": [\r\n    1\r\n  ]\r\n}'),
    "of two the later counts": ('{"a": 1, "a": 2}', {"a": 3}, '{"a": 1, "a": 3}'),
    "both of two go": ('{"a": 1, "b": 0, "a": 2}', {"b": 0}, '{ "b": 0}'),
    "true is not one": ('{"a": true}', {"a": 1}, '{"a": 1}'),
    "a comment in between": (
        '{\n  "a": 1, // one\n  // two\n  "b": 2\n}',
        {"a": 1},
        '{\n  "a": 1 // one\n  // two\n}',
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_laid_out_as_the_file_is(case: str) -> None:
    text, data, made = CASES[case]
    assert rewritten(text, data) == made


@pytest.mark.parametrize("text", ["", "[]", "3", "{'a': 1}", '{"a": 1', '{"a": 1,,}', "[" * 5000])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(NotJson):
        rewritten(text, {})


def test_a_file_that_was_changed_meanwhile_is_left(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}")
    file = read_foreign(path)
    path.write_text('{"theirs": 1}')
    for new in (b"ours", None):
        with pytest.raises(FileChanged):
            write_foreign(file, new)
    assert path.read_text() == '{"theirs": 1}'
    assert os.listdir(tmp_path) == ["settings.json"]


def test_a_link_leads_to_the_file_that_is_meant(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_bytes("\ufeff{}\r\n".encode())
    (tmp_path / "real.json").chmod(0o640)
    (tmp_path / "link.json").symlink_to("real.json")
    file = read_foreign(tmp_path / "link.json")
    assert file.text == "{}\r\n"
    write_foreign(file, file.bytes_of("{ }\r\n"))
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_bytes() == "\ufeff{ }\r\n".encode()
    assert (tmp_path / "real.json").stat().st_mode & 0o777 == 0o640
