"""Traps: what is easily written by mistake is found or explained; what is meant is left alone."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from stanchion import PolicyError
from stanchion.kernel.names import glob
from stanchion.policy.composed import read_text
from stanchion.policy.lint import Remark, lint
from stanchion.policy.load import load_policy
from stanchion.policy.schema import GUARDS
from stanchion.testing import read_table

DRAWN = Random(20)
TABLES = sorted((Path(__file__).parents[1] / "tables").glob("*.yaml"))
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def word() -> str:
    return "".join(DRAWN.choices(LETTERS, k=DRAWN.randint(2, 9)))


def names(count: int = 8) -> list[str]:
    return [
        word() + DRAWN.choice(["", "_" + word(), "-" + word(), "." + word()]) for _ in range(count)
    ]


def found(policy: dict[str, Any], code: str) -> list[Remark]:
    return [one for one in lint({"name": "p", **policy}).remarks if one.code == code]


def denied(*tools: str) -> dict[str, Any]:
    return {"guards": [{"use": "tool_denylist", "tools": list(tools)}]}


PATTERNS = [
    "^{}$",
    "^{}",
    "{}$",
    r"\b{}\b",
    "({}|other)",
    r"{}\d",
    r"{}\.sh",
    "(?i){}",
    "{}.+",
    "[a-z]+_{}",
    r"\w+_{}",
]


@pytest.mark.parametrize("shape", PATTERNS)
@pytest.mark.parametrize("name", names(4))
def test_a_regular_expression_is_found_among_names(shape: str, name: str) -> None:
    pattern = shape.format(name)
    (remark,) = found(denied(pattern), "pattern")
    assert f"`{pattern}`" in remark.message
    assert remark.sure == "likely"
    where: dict[str, Any]
    for where in (
        {"agents": {"a": {"allowed_tools": [pattern]}}, "guards": [{"use": "tool_allowlist"}]},
        {"guards": [{"use": "tool_denylist", "tools": ["x"], "applies_to": {"agents": [pattern]}}]},
        {"tools": {pattern: {"risk": "high"}}},
    ):
        assert len(found(where, "pattern")) == 1, where


@pytest.mark.parametrize("name", names(12))
def test_names_and_globs_are_left_alone(name: str) -> None:
    for tool in (
        name,
        f"{name}*",
        f"*{name}",
        f"?{name}*",
        f"mcp__{name}__*",
        f"{name}.*",
        f"{name}/v1.2",
        f"{name}:x",
    ):
        assert found(denied(tool), "pattern") == []
    paths = ["src/**/*.py", "**/.*", f"{name}$", f"C:\\{name}\\.git", f"({name})"]
    assert found({"guards": [{"use": "files", "deny": paths}]}, "pattern") == []


@pytest.mark.parametrize("name", names(6))
def test_what_to_write_instead_is_a_glob_of_what_was_meant(name: str) -> None:
    plain = name.replace(".", "_")
    for pattern, meant in (
        (f"^{plain}$", plain),
        (f"^{plain}.*", f"{plain}_more"),
        (f"^.*{plain}$", f"do_{plain}"),
    ):
        (remark,) = found(denied(pattern), "pattern")
        assert glob(remark.advice.removeprefix("write `").removesuffix("`"), meant)
    (remark,) = found(denied(f"^({plain}|b)$"), "pattern")
    assert remark.advice == f"write each one separately: `{plain}`, `b`"


def test_a_dot_and_a_star_is_a_glob_unless_only_a_pattern_fits_what_there_is() -> None:
    tools = {"tools": {"rm": {"risk": "high"}, "rmdir": {"risk": "high"}}}
    assert len(found({**tools, **denied("rm.*")}, "pattern")) == 1
    assert found({**tools, **denied("rm*")}, "pattern") == []
    assert found({"tools": {"fs.read": {"risk": "high"}}, **denied("fs.*")}, "pattern") == []


PERCENTAGES = [
    ("budget", "warn_at"),
    ("budget", "escalate_at"),
    ("time_limit", "warn_at"),
    ("error_rate", "warn_at"),
]
NEEDED: dict[str, dict[str, Any]] = {
    "budget": {"calls": 100},
    "time_limit": {"max_s": 60},
    "error_rate": {},
}


@pytest.mark.parametrize(("use", "option"), PERCENTAGES)
@pytest.mark.parametrize("share", [0.01, 0.25, 0.8, 0.95, 0.999])
def test_a_share_where_a_percentage_is_meant(use: str, option: str, share: float) -> None:
    entry = {"use": use, option: share, **NEEDED[use]}
    (remark,) = found({"guards": [entry]}, "unit")
    assert f"write `{option}: {share * 100:g}`" in remark.advice
    assert found({"guards": [{**entry, option: share * 100}]}, "unit") == []


def test_every_percentage_is_looked_at() -> None:
    """Those of guards to come as well: it goes by the type."""
    marks = {
        (name, one)
        for name, guard in GUARDS.items()
        for one in guard.__struct_fields__
        if one.endswith("_at")
    }
    others = {("budget", "degrade_at"), ("time_limit", "escalate_at"), ("error_rate", "halt_at")}
    assert marks - others == set(PERCENTAGES)


def test_two_shares_where_percentages_are_meant() -> None:
    remarks = found({"guards": [{"use": "error_rate", "warn_at": 0.5, "halt_at": 0.8}]}, "unit")
    assert [remark.advice.partition("`")[2].partition("`")[0] for remark in remarks] == [
        "warn_at: 50",
        "halt_at: 80",
    ]


@pytest.mark.parametrize("call", ["a.b.c", "guards", "a.b:", ":f", "a/b.py:f", "a.b:f()"])
def test_code_that_is_not_named_as_code(call: str) -> None:
    (remark,) = found({"guards": [{"use": "python", "id": "mine", "call": call}]}, "unfindable")
    assert remark.sure == "certain"
    if call == "a.b.c":
        assert remark.advice == "write `a.b:c`"


def test_code_that_is() -> None:
    for call in (
        "json:loads",
        "importlib.machinery:ModuleSpec",
        "sys:exit",
        "logging.handlers:SocketHandler.emit",
    ):
        assert (
            found({"guards": [{"use": "python", "id": "mine", "call": call}]}, "unfindable") == []
        )


def written(tmp_path: Path, body: str) -> Path:
    file = tmp_path / "p.yaml"
    file.write_text(f"name: p\n{body}", encoding="utf-8")
    return file


def fault(tmp_path: Path, body: str) -> str:
    with pytest.raises(PolicyError) as error:
        load_policy(written(tmp_path, body))
    return str(error.value.faults[0])


@pytest.mark.parametrize("names", [names(2) for _ in range(4)])
@pytest.mark.parametrize("deeper", [1, 2, 5])
def test_a_list_that_became_one_text(tmp_path: Path, names: list[str], deeper: int) -> None:
    first, second = names
    body = (
        f"guards:\n  - use: tool_denylist\n    tools:\n      - {first}\n      {' ' * deeper}- "
        f"{second}\n"
    )
    remarks = lint(written(tmp_path, body)).remarks
    (remark,) = [one for one in remarks if one.code == "joined"]
    assert f"`{first} - {second}` is one text" in remark.message
    assert remark.place.endswith("p.yaml:5:9")


@pytest.mark.parametrize(
    "text",
    [
        "one line - and a dash",
        "two\n      lines",
        "two lines -\n      and a dash",
        '"quoted\n      - twice"',
        "|\n      a\n      - b",
    ],
)
def test_a_text_that_is_meant_as_one(tmp_path: Path, text: str) -> None:
    body = f"guards:\n  - use: rule\n    id: r\n    when: event.tool == 'x'\n    message: {text}\n"
    assert lint(written(tmp_path, body)).remarks == ()


@pytest.mark.parametrize("name", ["_admin", "x", "-a", ".example.com", "", "/x", "*"])
def test_a_star_without_quotes(tmp_path: Path, name: str) -> None:
    said = fault(tmp_path, f"guards:\n  - use: tool_denylist\n    tools: [*{name}]\n")
    assert "quotes" in said
    assert f'`"*{name}"`' in said
    assert ":4:1" in said


@pytest.mark.parametrize("sign", "@`%")
def test_a_sign_of_yaml_without_quotes(tmp_path: Path, sign: str) -> None:
    said = fault(tmp_path, f"guards:\n  - use: tool_denylist\n    tools:\n      - {sign}x\n")
    assert f'put it into quotes, as in `"{sign}x"`' in said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "guards:\n  - use: shell\n  note: block\n",
            "this line is not an entry of the list above it",
        ),
        (
            "guards:\n  - use: shell\n   note: block\n",
            "this line is not an entry of the list above it",
        ),
        ("guards:\n  - use: shell\n      note: block\n", "this line is indented too far"),
        ("agents:\n a:\n   role: x\n  b:\n   role: y\n", "this line stands between two levels"),
        (
            "guards:\n- use: shell\nnote: block\n",
            "indent it further if it belongs to `guards` above",
        ),
        ("limits:\nwarnlings: 3\n", "`limits`"),
        ("agents:\nwriter: {role: x}\n", "indent it further if it belongs to `agents` above"),
        ("guards:\n  - use: rule\n    message: this: that\n", "there are two colons in this line"),
        (
            "guards:\n  - use: tool_denylist\n    tools: - rm\n",
            "a list begins on a line of its own",
        ),
        (
            "guards:\n  - use: tool_denylist\n    tools: [rm, ls\n  - use: shell\n",
            "the list that begins in line 4",
        ),
        ("guards:\n  - use: rule\n    when: 'it's'\n", "double a single quote"),
        ('guards:\n  - use: rule\n    message: "a\\d"\n', "use single quotes"),
    ],
)
def test_what_is_no_yaml_or_stands_elsewhere_is_explained(
    tmp_path: Path, body: str, said: str
) -> None:
    with pytest.raises(PolicyError) as error:
        load_policy(written(tmp_path, body))
    assert said in str(error.value)


@pytest.mark.parametrize(
    "body", ["(?=a)b", "a(?!b)", "(?<=a)b", "(?<!a)b", r"(a)\1", "(?P<x>a)(?P=x)", "(?>a)b", "a++"]
)
def test_what_re2_does_not_have_is_told_with_what_to_write(body: str) -> None:
    rule = {"use": "rule", "id": "r", "when": f"event.args.x.matches(r'{body}')"}
    with pytest.raises(PolicyError) as error:
        load_policy({"name": "p", "guards": [rule]})
    assert "which RE2 does not support" in str(error.value)


@pytest.mark.parametrize("table", TABLES, ids=lambda file: str(file.stem))
def test_policies_that_are_meant_have_no_traps(table: Path) -> None:
    traps = ("pattern", "joined", "unit", "replaces", "unfindable")
    for case in read_table(table).cases:
        if case.refused is None and isinstance(case.policy, dict):
            said = [
                str(one)
                for one in lint(case.policy).remarks
                if one.code in traps and one.sure != "info"
            ]
            assert said == [], case.name


def test_a_doubt_goes_with_the_document() -> None:
    body = "name: p\nguards:\n  - use: tool_denylist\n    tools:\n      - a\n       - b\n"
    assert len(read_text(body, "p.yaml").doubts) == 1


@pytest.mark.parametrize("option", ["allowed_hosts", "denied_hosts"])
def test_hosts_that_hold_for_requests_alone(option: str) -> None:
    entry = {"use": "egress", option: ["api.example.com"]}
    (remark,) = found({"extends": "default", "guards": [entry]}, "requests_only")
    assert (remark.sure, option in remark.message) == ("info", True)
    both = {**entry, "stages": ["egress", "tool_call"]}
    assert found({"extends": "default", "guards": [both]}, "requests_only") == []
    assert found({"guards": [entry]}, "requests_only") == []
    assert found({"extends": "default"}, "requests_only") == []


@pytest.mark.parametrize("scheme", ["https://", "https:", "HTTPS"])
def test_a_scheme_is_its_name_alone(scheme: str) -> None:
    with pytest.raises(PolicyError, match="is not a scheme"):
        load_policy({"name": "p", "guards": [{"use": "egress", "schemes": [scheme]}]})


SOURCE: Final = """
import os.path as paths
from json import dumps, loads as read
raise RuntimeError("lint ran it")
class Judge:
    def judge(self, event): ...
async def later(event):
    inner = 1
if paths:
    chosen, (other, *rest) = 1, (2, 3)
with open("x") as opened: pass
alone = lambda event: (hidden := 1)
"""


@pytest.mark.parametrize(
    "name", ["paths", "dumps", "read", "Judge", "Judge.judge", "later", "chosen", "rest", "alone"]
)
def test_code_that_is_there_is_found_and_not_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_judges.py").write_text(SOURCE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert (
        found(
            {"guards": [{"use": "python", "id": "mine", "call": f"own_judges:{name}"}]},
            "unfindable",
        )
        == []
    )
    assert "own_judges" not in sys.modules


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("nomod:judge", "there is no module `nomod`"),
        ("own_judges.more:judge", "`own_judges` is no package, so it has no `more`"),
        ("own_package.more:judge", "there is no module `own_package.more`"),
        ("own_judges:judge", "the module `own_judges` has no `judge`"),
        ("own_judges:inner", "the module `own_judges` has no `inner`"),
        ("own_judges:hidden", "the module `own_judges` has no `hidden`"),
    ],
)
def test_code_that_is_not_there_is_found_out(
    call: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_judges.py").write_text(SOURCE, "utf-8")
    (tmp_path / "own_package").mkdir()
    (tmp_path / "own_package" / "__init__.py").write_text(
        "raise RuntimeError('lint ran it')", "utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    (remark,) = found({"guards": [{"use": "python", "id": "mine", "call": call}]}, "unfindable")
    assert remark.sure == "certain"
    assert remark.message == f"`mine` cannot find its code: {said}"
    assert "PYTHONPATH" in remark.advice


@pytest.mark.parametrize(
    "source",
    ["from json import *", "def __getattr__(name): ...", "globals()['judge'] = 1", "def ("],
)
def test_a_module_whose_names_cannot_be_told_is_not_doubted(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_judges.py").write_text(source, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert (
        found(
            {"guards": [{"use": "python", "id": "mine", "call": "own_judges:judge"}]}, "unfindable"
        )
        == []
    )


@pytest.mark.parametrize(
    ("use", "option"),
    [
        ("secrets", "allow"),
        ("pii", "allow+"),
        ("evidence", "test_commands"),
        ("evidence", "lint_commands"),
    ],
)
def test_a_regular_expression_is_found_in_every_option_that_takes_globs(
    use: str, option: str
) -> None:
    policy = {"extends": "default", "guards": [{"use": use, option: [r"^aws_\w+$"]}]}
    assert len(found(policy, "pattern")) == 1
