"""`stanchion tickets` shows what waits for a person, takes the answer, and says why where it does
not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from stanchion import Refused, Shield
from stanchion.approvals.ticket import Ticket, as_of, reopen, use
from stanchion.cli.main import main
from stanchion.cli.terminal import Terminal
from stanchion.cli.ticket_lines import ticket_table, whole
from stanchion.ops.views.people import ticket_view
from tests.approvals.origins import Origins
from tests.approvals.samples import asked, said
from tests.cli.signing import Signing

T0 = 4_102_473_600_000
MINUTE = 60_000

POLICY = {
    "name": "p",
    "tools": {"pay": {"risk": "critical"}},
    "guards": [{"use": "tool_denylist", "tools": ["pay"], "action": "escalate"}],
}

OPEN = asked(
    {"to": "ACME \x1b[2J", "amount": 5, "password": "[redacted]"},
    id="3f2a9c01d4e7",
    run="run-1",
    askers=("billing-bot",),
    task="invoice-7",
    risk="critical",
    guard="ask-first",
    code="tool.denied",
    message="tool `pay` is on the denylist",
    roles=("reviewer", "human_operator"),
    opened_at=T0,
    expires_at=T0 + 30 * MINUTE,
)
APPROVED = said(OPEN, T0 + MINUTE, why="as agreed", role="reviewer", until=T0 + 16 * MINUTE)
PROMPT = asked(
    "do it\nnow",
    {"source": "web"},
    id="77aa00112233",
    stage="prompt",
    tool="",
    task="",
    askers=(),
    risk="critical",
    message="tool `pay` is on the denylist",
    opened_at=T0,
    expires_at=T0 + 30 * MINUTE,
)


def no(ticket: Ticket, at: int, by: str = "bob", why: str = "no") -> Ticket:
    return said(ticket, at, yes=False, by=by, why=why)


def test_a_list_is_one_line_each() -> None:
    tickets = [
        OPEN,
        APPROVED,
        no(PROMPT, T0 + 2),
        as_of(OPEN, T0 + 30 * MINUTE),
        use(APPROVED, "run-1.9"),
    ]
    assert "\n".join(
        ticket_table(T0 + 5 * MINUTE).lines(list(map(ticket_view, tickets)), Terminal())
    ) == (
        "ticket        kind    state       age    left  agent        about   "
        "arguments                                             risk      why\n"
        "3f2a9c01d4e7  action  open      5 min  25 min  billing-bot  pay     "
        'to="ACME \\u001b[2J", amount=5, password="[redacted]"  critical  tool `pay` is on the '
        "denylist\n"
        "3f2a9c01d4e7  action  approved  5 min  11 min  billing-bot  pay     "
        'to="ACME \\u001b[2J", amount=5, password="[redacted]"  critical  tool `pay` is on the '
        "denylist\n"
        "77aa00112233  action  denied    5 min                       prompt  "
        "do it\\nnow                                            critical  tool `pay` is on the "
        "denylist\n"
        "3f2a9c01d4e7  action  expired   5 min          billing-bot  pay     "
        'to="ACME \\u001b[2J", amount=5, password="[redacted]"  critical  tool `pay` is on the '
        "denylist\n"
        "3f2a9c01d4e7  action  used      5 min          billing-bot  pay     "
        'to="ACME \\u001b[2J", amount=5, password="[redacted]"  critical  tool `pay` is on the '
        "denylist"
    )


def test_one_that_waits_has_everything_that_a_person_needs() -> None:
    assert "\n".join(whole(ticket_view(OPEN), T0 + 5 * MINUTE, Terminal())) == (
        "OPEN  agent billing-bot wants to call pay\n"
        "\n"
        "  ticket   3f2a9c01d4e7\n"
        "  args     {\n"
        '             "to": "ACME \\u001b[2J",\n'
        '             "amount": 5,\n'
        '             "password": "[redacted]"\n'
        "           }\n"
        "  why      tool `pay` is on the denylist\n"
        "  guard    ask-first (tool.denied)\n"
        "  risk     critical\n"
        "  task     invoice-7\n"
        "  run      run-1\n"
        "  asks     reviewer or human_operator\n"
        "  opened   2100-01-01 08:00:00Z, 5 min ago\n"
        "  until    2100-01-01 08:30:00Z, 25 min left to answer; then it is refused\n"
        f"  policy   {'a' * 64}\n"
        f"  digest   {OPEN.deed.digest}"
    )


@pytest.mark.parametrize(
    ("ticket", "says"),
    [
        (
            APPROVED,
            [
                "APPROVED  ",
                "approved by ann, as reviewer, 2100-01-01 08:01:00Z",
                "as agreed",
                "left to repeat",
            ],
        ),
        (no(OPEN, T0 + 2), ["DENIED  ", "denied by bob, as boss, ", "comment  no"]),
        (no(APPROVED, T0 + MINUTE), ["WITHDRAWN  ", "approval withdrawn by bob, as boss, "]),
        (use(APPROVED, "run-1.9"), ["USED  ", "used by  run-1.9"]),
        (as_of(OPEN, T0 + 30 * MINUTE), ["EXPIRED  ", "2100-01-01 08:30:00Z, which is over"]),
        (as_of(APPROVED, T0 + 30 * MINUTE), ["EXPIRED  ", "2100-01-01 08:16:00Z, which is over"]),
        (reopen(OPEN, use(APPROVED, "c"), T0, MINUTE), ["3f2a9c01d4e7, asked for the 2nd time"]),
        (
            PROMPT,
            ["an agent: words of the user", "content  do it\n           now", '"source": "web"'],
        ),
    ],
)
def test_what_became_of_one(ticket: Ticket, says: list[str]) -> None:
    text = "\n".join(whole(ticket_view(ticket), T0 + 5 * MINUTE, Terminal()))
    assert [words for words in says if words not in text] == []


def ask(path: Path, amount: int = 5) -> str:
    """Let an agent ask to pay; gives the ticket's id."""
    with Shield.load(POLICY, store=path) as shield, shield.run("billing-bot", "invoice-7") as run:

        def pay(amount: int, password: str) -> int:
            return amount

        try:
            run.call(pay, amount=amount, password="s3cr3t")
        except Refused as refused:
            return str(refused.ticket) if refused.waits else refused.decision.code
        return "paid"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store that commands use, and a trail that they write to."""
    path = tmp_path / "state.db"
    monkeypatch.setenv("STANCHION_STORE", str(path))
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "trail"))
    return path


@pytest.fixture
def ann(file: Path, tmp_path: Path) -> Signing:
    """An operator of that store."""
    return Signing(tmp_path).enrolled(file)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> list[Any]:
    """What the command answers as JSON."""
    capsys.readouterr()
    assert main(["tickets", *words, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_one_is_shown_as_json_wherever_the_option_stands(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ticket = ask(file)
    capsys.readouterr()
    assert main(["tickets", "show", "--json", ticket]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    shown = json.loads(line)
    assert (shown["id"], shown["content"]) == (ticket, {"amount": 5, "password": "[redacted]"})
    assert main(["tickets"]) == 0
    assert 'amount=5, password="[redacted]"' in capsys.readouterr().out


def test_a_ticket_is_found_shown_and_approved_and_the_call_goes_ahead(
    file: Path, ann: Signing, capsys: pytest.CaptureFixture[str]
) -> None:
    ticket = ask(file)
    assert [(one["id"], one["state"], one["risk"]) for one in told(capsys, "list")] == [
        (ticket, "open", "critical")
    ]
    assert main(["tickets", "show", ticket[:5]]) == 0
    out = capsys.readouterr().out
    assert '"amount": 5' in out
    assert "s3cr3t" not in out
    assert (
        main(["tickets", "approve", ticket[:5], "--for", "5m", "--comment", "fine", *ann.words()])
        == 0
    )
    out, err = capsys.readouterr()
    assert '"amount": 5' in err, "it is shown before it is signed"
    assert out.startswith(
        f"ticket {ticket} (pay, asked by billing-bot) is approved, signed: the same call goes ahead"
    )
    assert re.search(r"\((4 min 5\d s|5 min)\)", out), "it counts from when it was shown"
    assert ask(file) == "paid"
    assert [(one["state"], one["answered_by"]) for one in told(capsys, "list", "--all")] == [
        ("used", "ann")
    ]
    assert told(capsys, "list") == []


def test_a_denial_reaches_the_agent_and_all_of_it_is_in_the_trail(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ticket = ask(file)
    (denied,) = told(capsys, "deny", ticket, "--by", "ann", "--comment", "wrong account")
    assert (denied["state"], denied["comment"], denied["answered_by"]) == (
        "denied",
        "wrong account",
        "ann",
    )
    assert ask(file) == "approval.denied"
    capsys.readouterr()
    assert main(["audit", "tail"]) == 0
    out = capsys.readouterr().out
    assert f"ticket.opened {ticket} by billing-bot" in out
    assert f"ticket.denied {ticket} by ann: wrong account" in out
    assert main(["audit", "verify"]) == 0


def test_what_is_listed(file: Path, ann: Signing, capsys: pytest.CaptureFixture[str]) -> None:
    tickets = [ask(file, amount) for amount in range(3)]
    main(["tickets", "approve", tickets[1], *ann.words()])
    main(["tickets", "deny", tickets[2], "--by", "ann", "--comment", "no"])
    assert [one["id"] for one in told(capsys, "list")] == tickets[:2]
    assert [one["id"] for one in told(capsys, "list", "--all")] == tickets
    assert [one["id"] for one in told(capsys, "list", "--state", "denied")] == tickets[2:]
    assert told(capsys, "list", "--tenant", "elsewhere") == []
    assert main(["tickets", "list", "--state", "used"]) == 0
    assert capsys.readouterr().out == "no ticket is used\n"


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (
            ["approve", "ID"],
            1,
            (
                "only an operator with a key can say yes; `stanchion operators add NAME` adds the "
                "first one"
            ),
        ),
        (["approve", "ID", "--by", "billing-bot"], 1, "`billing-bot` asked for it"),
        (["approve", "ID", "--for", "2d"], 1, "cannot be valid for `172800` s"),
        (["approve", "ID", "--scope", "runn"], 2, "`--scope` is `runn`: did you mean `run`?"),
        (["approve", "ID", "--pattern", "amount"], 2, "write `ARGUMENT=GLOB`"),
        (["approve", "ID", "--key", "nowhere"], 2, "nowhere"),
        (["approve", "ID", "--key", "x", "--ssh-agent"], 2, "give one of them"),
        (["revoke", "ID"], 1, "no grant `"),
        (["answer", "nowhere"], 2, "`nowhere` cannot be read"),
        (["sign", "nowhere"], 2, "`nowhere` cannot be read"),
        (["approve", "ID", "--by", "ann", "--for", "soon"], 2, "`--for` is `soon`"),
        (
            ["deny", "ID", "--by", "ann"],
            2,
            "`stanchion tickets deny` needs `--comment` with a reason in words: the agent reads it",
        ),
        (["deny", "ID", "--by", "ann", "--comment", "no", "--for", "5m"], 2, "takes no `--for`"),
        (["approve", "zzzz", "--by", "ann"], 2, "there is no ticket `zzzz`"),
        (["approve"], 2, "which one?"),
        (["show", "zz"], 2, "`zz` is too short: write at least 4 digits"),
        (["list", "ID"], 2, "takes no `"),
        (["list", "--state", "opn"], 2, "`--state` is `opn`: did you mean `open`?"),
        (["aprove", "ID"], 2, "`stanchion tickets` cannot `aprove`: did you mean `approve`?"),
    ],
)
def test_what_is_not_done_says_why(
    words: list[str], status: int, says: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ticket = ask(file)
    capsys.readouterr()
    assert main(["tickets", *[ticket if word == "ID" else word for word in words]]) == status
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("stanchion: ")
    assert says in line
    assert [one["state"] for one in told(capsys, "list")] == ["open"]


def test_it_is_answered_once(file: Path, ann: Signing, capsys: pytest.CaptureFixture[str]) -> None:
    ticket = ask(file)
    assert main(["tickets", "approve", ticket, *ann.words()]) == 0
    assert main(["tickets", "approve", ticket, *ann.words()]) == 1
    assert "is already approved, by `ann`" in capsys.readouterr().err
    assert main(["tickets", "deny", ticket, "--by", "bob", "--comment", "no"]) == 0
    assert "is withdrawn" in capsys.readouterr().out


def test_nothing_yet(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tickets", "list"]) == 0
    assert "nothing is kept yet" in capsys.readouterr().err
    assert main(["tickets", "approve", "3f2a", "--by", "ann"]) == 2
    assert "give the store of the process that waits" in capsys.readouterr().err
    assert not file.exists()


def test_a_check_tells_programs_which_ticket_a_run_would_wait_for(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = file.with_name("policy.json")
    policy.write_text(json.dumps(POLICY))
    ticket = ask(file)
    args = json.dumps({"amount": 5, "password": "s3cr3t"})
    about = ["--tool", "pay", "--args", args, "--agent", "billing-bot", "--task", "invoice-7"]
    capsys.readouterr()
    assert main(["check", "--policy", str(policy), *about]) == 4
    said = capsys.readouterr().out
    assert "in a run, this opens a ticket" in said
    assert ticket not in said
    assert main(["check", "--policy", str(policy), *about, "--json"]) == 4
    assert json.loads(capsys.readouterr().out)["ticket"] == ticket
    assert len(told(capsys, "list")) == 1


def test_a_question_about_values_begins_with_the_danger_and_takes_a_pick(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(tmp_path / "state.db")
    ann = Signing(tmp_path).enrolled(store)
    policy = {"name": "p", "tools": {"send": {"effect": "privilege", "sinks": ["to"]}}}

    def send(to: str, body: str) -> str:
        return f"{body} to {to}"

    with (
        Shield.load(policy, store=store, journal="memory:", guards=[Origins()]) as shield,
        shield.run("bot", "t") as run,
    ):
        with pytest.raises(Refused) as refused:
            run.call(send, to="read:evil@x", body="hello")
        ticket = str(refused.value.ticket)
        assert main(["tickets", "show", ticket, "--store", store]) == 0
        shown = capsys.readouterr().out.splitlines()
        assert shown[0] == (
            'OPEN  somebody else gains control: may send use to="read:evil@x" in this task? '
            "(agent bot asks)"
        )
        labels = [line[:11].strip() for line in shown[2:8]]
        assert labels == ["values", "origin", "", "pick", "default", "call"]
        assert shown[6] == "  default  no: without an answer it is refused"
        assert main(["tickets", "list", "--kind", "value", "--store", store]) == 0
        assert ticket in capsys.readouterr().out
        approve = ["tickets", "approve", ticket, "--store", store]
        assert main([*approve, "--pick", "to", *ann.words()]) == 2
        assert "write `ARGUMENT=VALUE`" in capsys.readouterr().err
        assert main([*approve, "--pick", "to=known@a", *ann.words()]) == 0
        assert 'goes ahead once, with to="known@a"' in capsys.readouterr().out
        assert run.call(send, to="read:evil@x", body="hello") == "hello to known@a"
        assert main(["tickets", "show", ticket, "--store", store]) == 0
        assert "within two seconds" in capsys.readouterr().out
