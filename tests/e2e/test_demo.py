"""The demo shows real decisions, says so when a hazard is not caught, and leaves every terminal as
it was."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from stanchion.cli.demo import BAR
from stanchion.cli.main import main
from stanchion.guards import SHIPPED
from stanchion.ops.demo.hazard import DemoTally, Hazard, HazardOutcome, HazardStep, Proof
from stanchion.ops.demo.hazards import HAZARDS
from stanchion.ops.demo.operator import LINE, ann
from stanchion.ops.demo.play import POLICY, Demo
from stanchion.ops.demo.runaway import unguarded
from stanchion.policy.load import load_policy
from tests.sampling import SOAK, some

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "demo.txt"
PLAYED = f"{len(HAZARDS)}/{len(HAZARDS)}"
ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
EXTRA = {"sql", "presidio"}
"""Guards that need what the demo is not installed with."""

COMMAND = [
    sys.executable,
    "-c",
    "import sys; from stanchion.cli.main import main; sys.exit(main())",
    "demo",
]
FEW = 6
SHORT = [
    sys.executable,
    "-c",
    (
        f"import sys; from stanchion.cli import demo, main; demo.HAZARDS = demo.HAZARDS[:{FEW}]; "
        f"sys.exit(main.main())"
    ),
    "demo",
]
"""The demo of the first few hazards: how it is written does not depend on how many there are."""


def without_hashes(text: str) -> str:
    """The text with every hash blotted out: a policy's hash changes whenever a guard gets an
    option."""
    return re.sub(r"\b[0-9a-f]{64}\b", "<hash>", text)


def on_terminal(
    *options: str,
    columns: int = 80,
    stop_at: str = "",
    command: Sequence[str] = COMMAND,
    **environ: str,
) -> tuple[int, str]:
    """Run the demo on a terminal; gives its status and all it wrote. `stop_at` presses Ctrl-C at
    that text."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("COLUMNS", "LINES", "NO_COLOR")
    }
    env = {**kept, "TERM": "xterm", "PYTHONIOENCODING": "utf-8", **environ}
    child = subprocess.Popen(
        [*command, *options], stdin=theirs, stdout=theirs, stderr=theirs, env=env,
        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(theirs)
    written = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:
            break
        if not piece:
            break
        written += piece
        if stop_at and stop_at.encode() in written:
            os.write(ours, b"\x03")
            stop_at = ""
    os.close(ours)
    return child.wait(), written.decode()


def shown(written: str) -> list[str]:
    """The lines that stay on the terminal: what an erase took away is gone."""
    text = written.replace("\r\n", "\n")
    return [ESCAPE.sub("", line.split("\r\x1b[K")[-1]) for line in text.split("\n")]


@pytest.fixture(scope="module")
def plain() -> str:
    """What the demo prints where there is no terminal."""
    done = subprocess.run(COMMAND, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def coloured() -> tuple[int, str]:
    """Its status, and what it writes to a terminal."""
    return on_terminal("--fast")


def test_plain_output_is_golden(plain: str) -> None:
    golden = GOLDEN.read_text(encoding="utf-8")
    assert without_hashes(plain) == without_hashes(golden), (
        "if it should be so: stanchion demo > tests/golden/demo.txt"
    )


def test_plain_output_is_plain_and_always_the_same(
    plain: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo"]) == 0
    assert capsys.readouterr().out == plain, (
        "every record, and so the head of the chain, is the same each time"
    )
    assert plain.isascii()
    assert "\x1b" not in plain
    assert max(map(len, plain.splitlines())) <= 80


def test_safe_mode_of_the_surroundings_changes_nothing(
    plain: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STANCHION_SAFE_MODE", "1")
    assert main(["demo"]) == 0
    assert capsys.readouterr().out == plain


def test_json_has_one_line_for_each_hazard(plain: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["hazard"] for line in lines] == [hazard.name for hazard in HAZARDS]
    assert all(line["handled"] and not line["faults"] for line in lines)
    assert lines[-1]["head"] in plain
    denied = next(line for line in lines if line["hazard"] == "denylist")
    (step,) = denied["steps"]
    assert (step["verdict"], step["code"], step["guard"]) == (
        "BLOCK",
        "tool.denied",
        "tool-denylist",
    )
    assert (step["proceeds"], step["ran"]) == (False, False)


def test_every_guard_of_the_demo_is_shown_by_a_hazard() -> None:
    with closing(Demo()) as demo:
        steps = [step for outcome in demo.play(HAZARDS) for step in outcome.steps]
        ids = {
            id for step in steps for id in (step.guard, *[also.guard for also in step.also]) if id
        }
        placed = {id: demo.shield.policy.placed(id) for id in ids}
        used = {seat.placed.guard.name for seat in demo.shield.policy.seats} & set(SHIPPED)
    seen = {id.replace("-", "_") if at is None else at.guard.name for id, at in placed.items()}
    missing = used - seen - EXTRA
    assert not missing, f"no hazard shows {sorted(missing)}: add one to `hazards.yaml`"


def broken(tmp_path: Path, without: str) -> Path:
    """The demo's policy without one of its rules."""
    document: dict[str, Any] = yaml.safe_load(POLICY.read_text("utf-8"))
    if without in document:
        del document[without]
    else:
        kept = [guard for guard in document["guards"] if guard.get("id", guard["use"]) != without]
        assert len(kept) == len(document["guards"]) - 1
        document["guards"] = kept
    if without == "tool_allowlist":
        del document["agents"]  # a list of tools that no guard reads is a fault of the policy
    path = tmp_path / "broken.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path


RULES = [
    ("agents", "allowlist"),
    ("tools", "guess, empty, ability, authority, deadline, stumble"),
    ("tasks", "drift"),
    ("files", "escape"),
    ("size_limits", "flood"),
    ("tool_denylist", "denylist"),
    ("tool_allowlist", "allowlist"),
    ("shell", "wipe, stubborn"),
    ("secrets", "leak"),
    ("pii", "people"),
    ("canary", "canary"),
    ("output", "empty"),
    ("evidence", "untested"),
    ("injection", "commanded"),
    ("flow", "hijacked"),
    ("egress", "inside"),
    ("clamp", "overlong"),
    ("step_limit", "loop"),
    ("budget", "bill"),
    ("time_limit", "dawdle"),
    ("no-publishing", "shadow"),
    ("ask-before-paying", "approval"),
    ("hide-passwords", "password"),
    ("outside-mail", "warnings"),
    ("fraud-check", "crash"),
    ("recovery", "stumble"),
    ("breaker", "outage"),
    ("health", "outage"),
    ("loops", "circles, stubborn, runaway"),
    ("queue", "crowd"),
    ("error_rate", "runaway"),
    ("environments", "runaway"),
]
"""Each rule of the demo's policy, and what is not handled without it."""


@pytest.mark.parametrize(("without", "missed"), RULES)
def test_without_a_rule_what_it_is_for_is_missed(without: str, missed: str, tmp_path: Path) -> None:
    names = missed.split(", ")
    with closing(Demo(broken(tmp_path, without))) as demo:
        played = list(demo.play([hazard for hazard in HAZARDS if hazard.name in names]))
    assert [outcome.faults != () for outcome in played] == [True] * len(names)


@pytest.mark.parametrize(("without", "missed"), some(RULES, 16, "loud"))
def test_a_rule_taken_out_is_missed_loudly(
    without: str, missed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--policy", str(broken(tmp_path, without))]) == 1
    out = " ".join(capsys.readouterr().out.split())
    many = missed.count(",") + 1
    assert f"{many} of {len(HAZARDS)} hazards NOT handled as expected: {missed}" in out
    assert out.count("!! NOT HANDLED AS EXPECTED") == many
    assert "were handled as expected" not in out


def test_the_run_away_is_stopped_at_five_dollars() -> None:
    """Read from the records alone: what was decided, what was settled, and which states have
    changed."""
    with closing(Demo()) as demo:
        (outcome,) = demo.play([hazard for hazard in HAZARDS if hazard.name == "runaway"])
        found = [one.entry() for one in demo.tap.records() if one.is_decision]
        facts = [fact for fact in demo.tap.facts if fact.run == "runaway"]
        calls = [args for tool, args in demo.tools.reached if tool == "book"]
    assert outcome.faults == ()
    asked = [entry for entry in found if entry.stage == "model_call"]
    assert [entry.action for entry in asked] == ["ALLOW"] * 50 + ["BLOCK", "HALT"]
    assert sum(entry.amounts[2] for entry in asked if entry.action == "ALLOW") == 5_000_000
    tried = [entry for entry in found if entry.stage == "tool_call"]
    assert (len(calls), len(tried)) == (4, 50), (
        "the agent goes on trying, and the tool is left alone"
    )
    assert {entry.action for entry in tried[4:]} == {"BLOCK"}
    assert [(fact.about, fact.data["after"]) for fact in facts] == [
        ("tool:book", "warning"),
        ("run:runaway", "warning"),
        ("tool:book", "quarantine"),
        ("run:runaway", "halt"),
    ]
    assert outcome.proof.words == "book ran 4 times, not 960; $5.00 is spent, not $96.00"


def test_the_night_without_a_shield_is_really_counted() -> None:
    with closing(Demo()) as demo:
        assert unguarded(load_policy(POLICY, "night")) == (960, 96_000_000)
        dear = {
            "name": "p",
            "prices": {"giant": {"input_usd_per_mtok": 20, "output_usd_per_mtok": 100}},
        }
        assert unguarded(load_policy(dear)) == (960, 192_000_000)
        assert demo.tools.reached == []


def test_only_the_budget_holds_an_agent_that_nothing_else_stops(tmp_path: Path) -> None:
    document: dict[str, Any] = yaml.safe_load(POLICY.read_text("utf-8"))
    document["guards"] = [
        guard for guard in document["guards"] if guard["use"] not in ("loops", "error_rate")
    ]
    path = tmp_path / "budget.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    with closing(Demo(path)) as demo:
        (outcome,) = demo.play([hazard for hazard in HAZARDS if hazard.name == "runaway"])
        calls = [tool for tool, _ in demo.tools.reached]
    assert calls == ["book"] * 50
    assert outcome.proof.words == "book ran 50 times, not 960; $5.00 is spent, not $96.00"


def test_any_policy_can_be_watched(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--policy", "default"]) == 1
    assert "hazards NOT handled as expected" in " ".join(capsys.readouterr().out.split())


def test_json_says_what_was_missed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--json", "--policy", str(broken(tmp_path, "hide-passwords"))]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["hazard"], line["faults"]) for line in lines if not line["handled"]] == [
        (
            "password",
            [
                "step 1: expected REDACT demo.password, got ALLOW",
                'in fact login got "swordfish"; records with the real password: 0',
            ],
        )
    ]


def test_the_policy_shown_is_the_one_used(
    tmp_path: Path, plain: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--show-policy"]) == 0
    mine = tmp_path / "mine.yaml"
    mine.write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["demo", "--policy", str(mine)]) == 0
    assert capsys.readouterr().out == plain


def test_a_policy_that_cannot_be_used_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("name: wrong\ngards: []\n", encoding="utf-8")
    assert main(["demo", "--policy", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "guards" in err
    assert err.count("\n") == 1


WITHOUT_KEYS = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "cryptography" else find(name, *more)
sys.modules["cryptography"] = None
from stanchion.cli.main import main
sys.exit(main(["demo", "--json"]))
"""


def test_without_the_package_for_keys_the_rest_is_shown() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_KEYS], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    (line,) = [line for line in lines if line["hazard"] == "approval"]
    assert [step["who"] for step in line["steps"]] == ["agent", "agent", "agent", "demo"]
    assert "stanchion-guard[signing]" in line["steps"][-1]["did"]
    assert line["proof"] == "pay_invoice never ran; its own answers in the trail, all refused: 2"


def test_the_key_of_the_demos_operator_is_the_one_that_is_known() -> None:
    assert ann().key.public.line == LINE


def outcome(step: HazardStep, *expects: str, holds: bool = True) -> HazardOutcome:
    """A played hazard of one step."""
    hazard = Hazard("h", "H", "a story", expects, lambda _: Proof("", True))
    return HazardOutcome(1, 1, hazard, (step,), "", Proof("it rained", holds), DemoTally(), 1, "")


REFUSED = HazardStep("agent", "t()", "BLOCK", "tool.denied", proceeds=False, ran=False, tool="t")


def test_a_hazard_handled_as_expected_has_no_faults() -> None:
    assert outcome(REFUSED, "BLOCK tool.denied").faults == ()


@pytest.mark.parametrize(
    ("played", "fault"),
    [
        (
            outcome(REFUSED, "BLOCK tool.other"),
            "step 1: expected BLOCK tool.other, got BLOCK tool.denied",
        ),
        (outcome(REFUSED), "step 1: expected no more steps, got BLOCK tool.denied"),
        (outcome(REFUSED, "BLOCK tool.denied", "ALLOW"), "step 2: expected ALLOW, got nothing"),
        (outcome(REFUSED, "BLOCK tool.denied", holds=False), "in fact it rained"),
        (
            outcome(msgspec.structs.replace(REFUSED, ran=True), "BLOCK tool.denied"),
            "`t` ran despite BLOCK tool.denied",
        ),
        (
            outcome(HazardStep("agent", "t()", "ALLOW", ran=False, tool="t"), "ALLOW"),
            "`t` did not run despite ALLOW",
        ),
    ],
)
def test_each_fault_is_named(played: HazardOutcome, fault: str) -> None:
    assert played.faults == (fault,)


def test_the_trail_verifies_and_a_forged_record_is_named() -> None:
    with closing(Demo()) as demo:
        list(demo.play(HAZARDS[:4]))
        books = demo.books()
    assert (books.faults, books.verifies) == ((), True)
    assert f"record {books.forged} was edited" in books.noticed
    blind = msgspec.structs.replace(books, noticed="")
    assert not blind.verifies, "a forgery that nobody notices is not fine"
    assert not msgspec.structs.replace(books, faults=("record 1 was edited",)).verifies


def test_a_terminal_shows_the_same_in_colour(plain: str, coloured: tuple[int, str]) -> None:
    status, written = coloured
    assert status == 0
    words = "\n".join(shown(written)).translate({0x2713: "ok", 0x00D7: "x"})
    assert words.split() == plain.split()
    assert "\x1b[1;97;41m BLOCK \x1b[0m" in written
    assert f"{PLAYED}   went ahead" in written, "the status line counts"
    assert not any(PLAYED in line for line in shown(written)), "and is gone at the end"


def test_styles_never_outlast_a_write(coloured: tuple[int, str]) -> None:
    _, written = coloured
    styles = re.findall(r"\x1b\[([0-9;]*)m", written)
    assert styles
    assert all((style == "0") == bool(at % 2) for at, style in enumerate(styles)), (
        "a reset follows every style"
    )
    assert set(re.findall(r"\x1b(.[^A-Za-z]*[A-Za-z])", written)) - {
        f"[{style}m" for style in styles
    } == {"[K"}


def test_no_color_takes_the_colours_only() -> None:
    status, written = on_terminal("--fast", command=SHORT, NO_COLOR="1")
    assert status == 0
    assert not re.search(r"\x1b\[[0-9;]*m", written)
    assert f"{FEW}/{FEW}   went ahead" in written


def test_a_dumb_terminal_gets_plain_text() -> None:
    plain = subprocess.run(SHORT, capture_output=True, text=True, check=True).stdout
    status, written = on_terminal(command=SHORT, TERM="dumb")
    assert status == 0
    assert written.replace("\r\n", "\n") == plain


def test_an_ascii_terminal_gets_ascii() -> None:
    status, written = on_terminal("--fast", command=SHORT, PYTHONIOENCODING="ascii")
    assert status == 0
    assert written.isascii()
    assert f"{'#' * BAR} {FEW}/{FEW}" in written


@pytest.mark.parametrize("columns", [200, 36, 20] if SOAK else [20])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    status, written = on_terminal("--fast", command=SHORT, columns=columns)
    assert status == 0
    drawn = re.split(r"\r\x1b\[K|\r\n", written)
    assert max(len(ESCAPE.sub("", line)) for line in drawn) <= min(columns, 96)
    assert f"{FEW}/{FEW}" in written


def test_ctrl_c_ends_it_and_leaves_the_terminal_alone() -> None:
    status, written = on_terminal(stop_at="An honest call")
    assert status == 130
    assert "Traceback" not in written
    assert "Summary" not in written
    assert PLAYED not in written
    assert written.count("\x1b[0m") == len(re.findall(r"\x1b\[[1-9][0-9;]*m", written))
