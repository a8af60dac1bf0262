"""What was erased is said to be: no command shows a template, or tests a condition on what is not
there."""

from __future__ import annotations

import importlib
import json
import pkgutil
from pathlib import Path

import pytest

from stanchion import Action, Finding, Shield
from stanchion.audit.erasure import Meant, erase, meant_in
from stanchion.audit.journal import Finish
from stanchion.audit.layout import segment_file
from stanchion.audit.options import TrailOptions
from stanchion.audit.reader import TrailReader
from stanchion.audit.trail import Trail
from stanchion.cli.main import main
from stanchion.kernel.decision import Decision
from stanchion.kernel.names import names
from stanchion.kernel.words import PLACE, declared
from tests.audit.written import AT, RUN, moment

RULE = """
name: p
guards:
  - {id: no-rm, use: rule, when: "event.tool == 'bash' and event.args.command == 'rm'", message: "never `rm` for ann"}
  - {id: no-word, use: rule, stages: [tool_result], when: "event.args.command == 'ls'", action: warn}
  - {id: late, use: time_limit, max_s: 10, warn_at: 0.00001}
"""  # noqa: E501


def erased(folder: Path, **whose: str) -> None:
    """Erase what was said."""
    trail = Trail(folder)
    meant = Meant(**{name: names([value]) for name, value in whose.items()})  # type: ignore[arg-type] # names alone
    erase(trail, meant_in(TrailReader(folder), meant).rows, "she asked", "bob")
    trail.close()


def every_code() -> list[str]:
    """Every code that any module declares."""
    for room in ("guards", "runtime", "approvals", "policy"):
        parent = importlib.import_module(f"stanchion.{room}")
        for found in pkgutil.walk_packages(parent.__path__, f"stanchion.{room}."):
            if found.name.endswith(("presidio", "__main__")):
                continue
            importlib.import_module(found.name)
    return sorted(declared())


def test_no_code_shows_its_template(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trail = Trail(tmp_path, clock=lambda: AT)
    codes = every_code()
    about = moment("r1.1")
    found = [
        Finding(Action.BLOCK, code, ("ann",) * 9, guard=f"g{number}")
        for number, code in enumerate(codes)
    ]
    found += [Finding(Action.BLOCK, "own.code", (), "about ann", guard="own")]
    trail.write(
        about,
        Decision(about.id, Action.BLOCK, "p", tuple(found), shadow=tuple(found)),
        5,
        ("of ann",),
    )
    trail.end(Finish(RUN, AT, "kernel.ended", "as ann said", {}, ("for ann",)))
    trail.close()
    erased(tmp_path, run="r1")
    shown = []
    for words in (["audit", "show"], ["explain"]):
        assert main([*words, "r1.1", "--trail", str(tmp_path)]) == 0
        shown.append(capsys.readouterr().out)
    for out in shown:
        assert PLACE.search(out) is None
        assert "$withheld" not in out
        assert "content  (erased)" in out
        assert out.count("(erased)") > sum(
            bool(PLACE.search(words.message)) for words in declared().values()
        )
    assert main(["explain", "r1.1", "--trail", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["code"] for one in told["findings"]] == [*codes, "own.code"]
    assert told["findings"][-1]["message"] == "(erased)"
    assert not [
        one
        for one in told["findings"]
        if PLACE.search(json.dumps([one["message"], one["advice"], one["detail"]]))
    ]
    (end,) = [one for one in TrailReader(tmp_path).forwards() if one.stub.kind == "end"]
    assert main(["audit", "show", f"{end.chain}:{end.stub.seq}", "--trail", str(tmp_path)]) == 0
    assert "(erased)" in capsys.readouterr().out


def test_words_that_are_there_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trail = Trail(tmp_path, clock=lambda: AT)
    about = moment("r1.1", {"to": "ann"})
    found = Finding(Action.BLOCK, "tool.denied", ("send",), guard="g")
    trail.write(about, Decision(about.id, Action.BLOCK, "p", (found,)), 5)
    trail.close()
    for words in (["audit", "show"], ["explain"]):
        assert main([*words, "r1.1", "--trail", str(tmp_path)]) == 0
        out = capsys.readouterr().out
        assert "`send`" in out
        assert "erased" not in out


class Ruled:
    """A trail that was written under rules about arguments: a call that was refused, and one with
    its result."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "trail"
        policy = folder / "p.yaml"
        policy.write_text(RULE, encoding="utf-8")
        journal = Trail(self.folder, TrailOptions(segment_bytes=1))
        with Shield.load(policy, store="memory:", journal=journal) as shield:
            with shield.run("ann", "t1", id="r1") as run:
                self.refused = run.check("bash", {"command": "rm"}).id
            with shield.run("bob", "t1", id="r2") as run:
                call = run.check("bash", {"command": "ls"}).id
                self.call = call
                self.result = run.result("bash", {"command": "ls"}, "done", call=call).id

    def explained(self, name: str, capsys: pytest.CaptureFixture[str]) -> str:
        """What is said of a decision."""
        capsys.readouterr()
        assert main(["explain", name, "--trail", str(self.folder)]) == 0
        return capsys.readouterr().out


def test_conditions_are_not_tested_on_what_is_erased(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ruled = Ruled(tmp_path)
    before = ruled.explained(ruled.refused, capsys)
    assert "true   event.args.command == 'rm'" in before
    assert "never `rm` for ann" in before
    assert "true   event.args.command == 'ls'" in ruled.explained(ruled.result, capsys)
    erased(ruled.folder, run="r1")
    after = ruled.explained(ruled.refused, capsys)
    assert "a rule of the policy forbids this: (erased)" in after
    assert "it cannot be judged again: the content of its record was erased" in after
    for words in ("true ", "false", "would have to"):
        assert words not in after
    erased(ruled.folder, run="r2")
    assert "cannot be judged again" in ruled.explained(ruled.result, capsys)


def test_an_outcome_whose_call_is_gone_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ruled = Ruled(tmp_path)
    found = TrailReader(ruled.folder).find(ruled.call)
    assert found is not None
    trail = Trail(ruled.folder)
    erase(trail, {found.chain: ((found.stub.seq, found.stub.seq),)}, "", "bob")
    trail.close()
    after = ruled.explained(ruled.result, capsys)
    assert "its conditions are not tested again: the arguments of its call were erased" in after
    assert "false" not in after
    line = segment_file(ruled.folder / found.chain, found.segment)
    data = line.read_bytes()
    line.write_bytes(data[: found.offset] + data[data.index(b"\n", found.offset) + 1 :])
    after = ruled.explained(ruled.result, capsys)
    assert (
        "its conditions are not tested again: the record of its call is not in the trail" in after
    )
    assert "false" not in after
