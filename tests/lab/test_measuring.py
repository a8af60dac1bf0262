"""Measuring on labelled rows: intervals, files that are not there, traces of every kind, and what
is printed."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from stanchion_lab.measuring import MEASURES, benign, loops
from stanchion_lab.measuring.figure import Family, Figure, Interval, Report, counted, mean_over
from stanchion_lab.measuring.rows import NoRows, Row, rows
from stanchion_lab.measuring.show import lines, plain
from stanchion_lab.measuring.traces import Call, Came, Failed, Gave, Reply, User, steps_of
from stanchion_lab.measuring.watching import each, watched


def written(folder: Path, file: str, *found: dict[str, Any]) -> Path:
    """A corpus of these rows."""
    folder.mkdir(exist_ok=True)
    text = "".join(json.dumps({"source": "here", **row}) + "\n" for row in found)
    (folder / file).write_text(text, encoding="utf-8")
    return folder


def shell(*calls: tuple[str, str], status: int | None = None) -> dict[str, Any]:
    """A payload of calls of one shell, each with its result."""
    return {
        "calls": [
            {"tool": "run", "args": {"command": c}, "exit": status, "result": result}
            for c, result in calls
        ]
    }


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [
        (0, 0, 0, 1),
        (0, 10, 0, 0.2775),
        (10, 10, 0.7225, 1),
        (5, 10, 0.2366, 0.7634),
        (1, 1, 0.2065, 1),
    ],
)
def test_the_interval_is_wilsons(hits: int, of: int, low: float, high: float) -> None:
    figure = Figure("f", hits, of)
    assert figure.share == (hits / of if of else 0)
    assert figure.interval.low == pytest.approx(low, abs=1e-4)
    assert figure.interval.high == pytest.approx(high, abs=1e-4)
    assert figure.interval.low <= figure.share <= figure.interval.high


def test_a_large_family_hides_no_small_one() -> None:
    rows_ = [("large", True)] * 98 + [("small", False), ("small", True)]
    figure = counted("f", rows_, lambda one: one[1], lambda one: one[0], missed=lambda one: one[0])
    assert (figure.hits, figure.of, figure.misses) == (99, 100, ("small",))
    assert figure.families == (Family("large", 98, 98), Family("small", 1, 2))
    assert figure.mean is not None
    assert (figure.mean.share, figure.mean.families) == (0.75, 2)
    assert figure.mean.interval.low < 0.6 < figure.mean.share < 0.9 < figure.mean.interval.high


def test_what_is_an_alarm_is_listed_when_it_is_a_hit() -> None:
    figure = counted("f", [1, 2, 3], lambda one: one == 2, lambda _: "all", missed=str, alarm=True)
    assert (figure.hits, figure.misses, figure.mean) == (1, ("2",), None)


def test_families_of_few_rows_are_not_certain() -> None:
    few = mean_over([Family(str(at), 1, 1) for at in range(10)])
    many = mean_over([Family(str(at), 100, 100) for at in range(10)])
    assert few.share == many.share == 1.0
    assert few.interval.low < many.interval.low < 1.0
    assert mean_over([Family("none", 0, 0)]) == (0.0, Interval(0.0, 1.0), 0)


@pytest.mark.parametrize(
    ("source", "kind", "family"),
    [
        ("dcg@1 tests/corpus", "dcg_pack", "dcg_pack"),
        ("owner+claude-hooks@1", "claude-hooks", "owner+claude-hooks"),
        ("OpenAgentSafety@1 a/b.json", "oas", "OpenAgentSafety oas"),
        ("", "own", "own"),
    ],
)
def test_a_row_s_family_is_where_it_comes_from(source: str, kind: str, family: str) -> None:
    assert Row("1", kind, "l", source=source).family == family


def test_whoever_watches_is_told_how_far_it_is() -> None:
    told: list[tuple[int, int]] = []
    with watched(lambda done, of: told.append((done, of))):
        assert list(each("ab")) == ["a", "b"]
    assert list(each("c")) == ["c"]
    assert told == [(0, 2), (1, 2)]


def test_rows_are_read_with_what_stands_beside_them(tmp_path: Path) -> None:
    folder = written(
        tmp_path,
        "some.jsonl",
        {"id": "1", "kind": "k", "label": "l", "payload": "text", "channel": "c"},
        {"id": "2", "kind": "k", "label": "l", "payload_b64": "aMOkaA=="},
    )
    assert list(rows(folder, "some.jsonl")) == [
        Row("1", "k", "l", "text", "here", {"channel": "c"}),
        Row("2", "k", "l", "h\u00e4h", "here"),
    ]


@pytest.mark.parametrize(
    ("folder", "says"),
    [("gone", "there is no folder `"), ("", "there is no `some.jsonl` in `")],
)
def test_rows_that_are_not_there_are_named(folder: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(NoRows) as error:
        list(rows(tmp_path / folder, "some.jsonl"))
    assert str(error.value).startswith(says)
    assert "STANCHION_CORPORA" in str(error.value)


@pytest.mark.parametrize(
    "line", ["[]", "{", '{"id": 1}', '{"id": "1", "kind": "k", "label": "l", "payload_b64": "?"}']
)
def test_a_line_that_is_no_row_is_named(line: str, tmp_path: Path) -> None:
    (tmp_path / "some.jsonl").write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(NoRows, match=r"some\.jsonl:2: is no row: "):
        list(rows(tmp_path, "some.jsonl"))


def test_a_report_is_shown_as_a_table_with_what_was_missed() -> None:
    report = Report(
        "Things",
        (Figure("found", 3, 4, "all", ("a: why", "b", "c")), Figure("none", 0, 0)),
        ("of four",),
    )
    assert list(lines(report, 2)) == [
        "Things",
        "         rows  share   95 % interval  target",
        "  found   3/4  75.0%  30.1% to 95.4%  all",
        "  none    0/0",
        "  of four",
        "",
        "found, otherwise:",
        "  a: why",
        "  b",
        "  and 1 more: see them with `--misses 3`",
    ]
    assert len(list(lines(report, 0))) == 5
    first = plain(report)["figures"][0]
    assert (first["mean"], first["families"]) == (None, [])
    assert (first["hits"], first["share"], first["low"], first["misses"]) == (
        3,
        0.75,
        0.300642,
        ["a: why", "b", "c"],
    )


def test_families_stand_beneath_their_figure() -> None:
    families = (Family("large", 9, 9), Family("small", 0, 1))
    report = Report("Things", (Figure("found", 9, 10, families=families),))
    assert list(lines(report, 0)) == [
        "Things",
        "                          rows   share    95 % interval  target",
        "  found                   9/10   90.0%   59.6% to 98.2%",
        "    mean over 2 families         50.0%   26.1% to 73.9%",
        "      large                9/9  100.0%  70.1% to 100.0%",
        "      small                0/1    0.0%    0.0% to 79.3%",
    ]
    shown = plain(report)["figures"][0]
    assert shown["mean"] == {"share": 0.5, "low": 0.261279, "high": 0.738721, "families": 2}
    assert [(one["name"], one["hits"], one["of"]) for one in shown["families"]] == [
        ("large", 9, 9),
        ("small", 0, 1),
    ]


def test_traces_of_every_kind_are_read() -> None:
    def steps(kind: str, payload: Any) -> Any:
        return steps_of(Row("1", kind, "l", payload))

    assert steps("oas", shell(("ls", "a"), status=2)) == [
        Call("run", {"command": "ls"}, Failed("exit_2", "a"))
    ]
    assert steps("oas", shell(("ls", "a"), status=0)) == [Call("run", {"command": "ls"}, Gave("a"))]
    assert steps("tau", {"calls": ["('get', '{\"id\": 1}')"]}) == [Call("get", {"id": 1})]
    spans = [
        {"kind": "CHAIN", "name": "Step 1", "error": "it broke"},
        {"kind": "LLM", "output": '{"content": "Thought: x\\nCode:\\n```py\\nf(1)\\n```"}'},
        {
            "kind": "TOOL",
            "name": "Find",
            "input": '{"args": [], "kwargs": {"q": "a"}}',
            "output": "b",
            "error": None,
        },
        {"kind": "TOOL", "name": "Find", "input": '{"args": [7], "kwargs": {}}', "error": "no"},
        {"kind": "LLM", "output": None},
    ]
    assert steps("trail", {"events": spans}) == [
        Call("python", {"code": "f(1)\n"}, Failed("CodeError", "it broke")),
        Call("Find", {"q": "a"}, Gave("b")),
        Call("Find", {"args": [7]}, Failed("ToolError", "no")),
    ]
    asked = {"function": {"name": "get", "arguments": '{"id": 1}'}}
    turns = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "so", "tool_calls": [asked, asked, asked]},
        {"role": "tool", "content": "5"},
        {"role": "tool", "content": "Error: none"},
    ]
    assert steps("trace", {"turns": turns}) == [
        User("hi"),
        Reply("so"),
        Call("get", {"id": 1}, Gave("5")),
        Call("get", {"id": 1}, Failed("Error", "Error: none")),
        Call("get", {"id": 1}),
    ]
    assert steps("gold_actions", {"steps": [{"tool": "get", "args": {"id": 1}}]}) == [
        Call("get", {"id": 1})
    ]
    said = "user: hi\nassistant: None\ntool: 5\n6\nassistant: bye"
    assert steps("dialogue", said) == [User("hi"), Came("5\n6"), Reply("bye")]
    assert steps("pointer", {}) is None


def test_loops_are_counted_by_label(tmp_path: Path) -> None:
    folder = written(
        tmp_path,
        "loops.jsonl",
        {"id": "in-a-row", "kind": "oas", "label": "loop", "payload": shell(*[("ls", "a")] * 3)},
        {"id": "unseen", "kind": "oas", "label": "loop_mechanical", "payload": shell(("ls", "a"))},
        {
            "id": "honest",
            "kind": "oas",
            "label": "no_loop",
            "payload": shell(("ls", "a"), ("cat a", "b")),
        },
        {"id": "accused", "kind": "oas", "label": "no_loop", "payload": shell(*[("ls", "a")] * 3)},
        {
            "id": "again",
            "kind": "oas",
            "label": "repeat",
            "payload": shell(("ls", "a"), ("ls", "b"), ("ls", "c")),
        },
        {"id": "no-trace", "kind": "pointer", "label": "n/a", "payload": {}},
    )
    figures = {figure.name: figure for figure in loops.measure(folder).figures}
    assert {name: (figure.hits, figure.of) for name, figure in figures.items()} == {
        "loops found": (1, 2),
        "loops with repeated calls found": (1, 1),
        "loops refused": (1, 2),
        "honest runs warned": (1, 2),
        "honest runs refused": (1, 2),
        "`repeat` rows found": (0, 1),
    }
    assert figures["loops found"].families == (
        Family("here oas, loop", 1, 1),
        Family("here oas, loop_mechanical", 0, 1),
    )
    assert figures["loops found"].misses == ("unseen (1 calls): not found",)
    assert figures["honest runs refused"].misses == ("accused (3 calls): loops.repeat at step 3",)


def test_honest_work_that_is_stopped_is_listed(tmp_path: Path) -> None:
    looping = {"steps": [{"tool": "renew", "args": {"id": 1}}] * 5}
    folder = written(
        tmp_path,
        "benign_traces.jsonl",
        {
            "id": "fine",
            "kind": "dialogue",
            "label": "benign",
            "payload": "user: hi\nassistant: hello",
        },
        {"id": "stopped", "kind": "gold_actions", "label": "benign", "payload": looping},
    )
    stopped, warned = benign.measure(folder).figures
    assert (stopped.hits, stopped.of, stopped.misses) == (
        1,
        2,
        ("stopped (benign): loops.repeat at step 5",),
    )
    assert warned.hits == 0


@pytest.mark.parametrize("name", ["loops", "benign"])
def test_each_measure_lives_in_the_module_of_its_name(name: str) -> None:
    assert name in MEASURES
    assert callable(import_module(f"stanchion_lab.measuring.{name}").measure)
