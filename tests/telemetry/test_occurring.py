"""What operators hear of: each leaves a line in the log, an occurrence for whoever counts, and a
notice."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import Refused, Shield
from stanchion.approvals.errors import AnswerRefused
from stanchion.audit.trail import Trail
from stanchion.policy.errors import PolicyError
from stanchion.runtime.errors import NotifyError
from stanchion.runtime.operating.reload import RefusedPolicy, refused_policies
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import StoreError
from stanchion.stores.redis import RedisStore
from stanchion.telemetry.kinds import Kind, Occurrence
from stanchion.telemetry.notices.post import Post
from tests.live_folders import remove
from tests.operators import ANN, KNOWN
from tests.stores.redis_server import FOREVER_S, Server, hurry
from tests.telemetry.receiver import SECRET, Receiver, receiving, status

ASKS: dict[str, Any] = {
    "name": "asks",
    "guards": [
        {
            "use": "rule",
            "id": "ask",
            "when": "event.tool == 'pay'",
            "action": "escalate",
            "message": "money leaves",
        },
        {
            "use": "rule",
            "id": "stop",
            "when": "event.tool == 'rm'",
            "action": "halt",
            "message": "enough",
        },
        {
            "use": "rule",
            "id": "cage",
            "when": "event.tool == 'odd'",
            "action": "quarantine",
            "message": "odd",
        },
    ],
}


@pytest.fixture
def receiver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """A receiver that the environment names as the place where notices go. A shield that closes
    waits until they are delivered, however long that takes on a busy machine."""
    monkeypatch.setattr(Post.close, "__defaults__", (FOREVER_S,))
    with receiving() as one:
        secret = tmp_path / "secret"
        secret.write_text(SECRET)
        secret.chmod(0o600)
        file = tmp_path / "notify.yaml"
        file.write_text(
            f"destinations:\n  pager: {{to: webhook, url: '{one.url}', secret_file: '{secret}'}}\n"
        )
        monkeypatch.setenv("STANCHION_NOTIFY", str(file))
        yield one


def counted(shield: Shield) -> list[Occurrence]:
    """Every single occurrence, as a metric counts them."""
    heard: list[Occurrence] = []
    shield.occurrences.subscribe(heard.append, each=True)
    return heard


def kinds(receiver: Receiver) -> list[str]:
    return [got.kind for got in receiver.got]


def lines(caplog: pytest.LogCaptureFixture, kind: Kind) -> list[str]:
    every = [record for record in caplog.records if record.name == "stanchion.notices"]
    return [record.getMessage() for record in every if record.getMessage().startswith(f"{kind}: ")]


def test_a_ticket_a_halt_a_quarantine_and_safe_mode_are_told(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "stanchion.notices")
    with Shield.load(ASKS, operators=[KNOWN]) as shield:
        heard = counted(shield)
        run = shield.run("ann", id="r1")
        waits = run.check("pay", {"amount": 3, "api_key": "sk-hidden-4711"})
        run.check("pay", {"amount": 3, "api_key": "sk-hidden-4711"})
        run.check("odd", {})
        run.check("rm", {})
        shield.safe_mode(True, "drill")
        shield.safe_mode(False, by=ANN)
        shield.halt("stop the press", scope="agent:bob")
        (ticket,) = shield.tickets()
        shield.deny(ticket.id, by=ANN, comment="not today")
    told = {got.kind: got.data for got in receiver.got}
    assert [one.kind.value for one in heard] == [
        "ticket.opened",
        "state.quarantine",
        "run.halted",
        "state.safe_mode",
        "state.normal",
        "state.halt",
        "ticket.answered",
    ]
    assert kinds(receiver) == [one.kind.value for one in heard], (
        "each was delivered, in order, when it was closed"
    )
    opened = told["ticket.opened"]
    assert (opened["ticket"], opened["tool"], opened["run"], opened["agent"]) == (
        ticket.id,
        "pay",
        "r1",
        "ann",
    )
    assert opened["decision"] == waits.id
    assert "money leaves" in opened["text"]
    assert told["run.halted"]["tool"] == "rm"
    assert "stop the press" in told["state.halt"]["text"]
    assert "not today" in told["ticket.answered"]["text"]
    assert "4711" not in str(receiver.got) + caplog.text
    for one in heard:
        assert lines(caplog, one.kind)


def test_a_change_of_a_pinned_tool_and_a_wrong_answer_are_told(receiver: Receiver) -> None:
    tool = {"name": "pay", "description": "pays", "inputSchema": {"type": "object"}}
    with Shield.load({"name": "p", "guards": [{"use": "schema"}]}, operators=[KNOWN]) as shield:
        shield.ingest([tool])
        shield.ingest([{**tool, "description": "pays twice"}])
        shield.halt("now")
        with pytest.raises(Exception, match="operator"):
            shield.resume(by="mallory")
    assert {"definition.changed", "answer.refused"} <= set(kinds(receiver))


def test_a_redis_that_hangs_is_told_once_and_counted(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    policy = {"name": "p", "guards": [{"use": "budget", "calls": 50}]}
    server = Server()
    try:
        store = RedisStore(server.url, timeout_s=FOREVER_S)
        with Shield.load(policy, store=store, tenant="t") as shield:
            heard = counted(shield)
            run = shield.run("ann")
            assert run.check("read", {}).proceeds
            server.freeze()
            hurry(store, 0.2)
            for _ in range(3):
                assert run.check("read", {}).code == "kernel.store_lost"
            server.thaw()
            hurry(store, FOREVER_S)
            while not run.check("read", {}).proceeds:
                pass
    finally:
        server.stop()
    assert [one.kind for one in heard].count(Kind.STORE_LOST) >= 3
    (line,) = lines(caplog, Kind.STORE_LOST)
    assert line.startswith("store.lost: the state store cannot be used: ")
    assert kinds(receiver) == ["store.lost", "store.back"], "once, and that it is over"
    assert receiver.got[1].data["times"] >= 3


def test_a_store_that_cannot_be_opened_is_told_once_an_hour(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"redis://127.0.0.1:{server.getsockname()[1]}/0?timeout_s=0.05"
        for _ in range(2):
            with pytest.raises(StoreError):
                Shield.load({"name": "p"}, store=url, clock=lambda: 1_700_000_000_000)
    assert kinds(receiver) == ["store.lost"]
    assert len(lines(caplog, Kind.STORE_LOST)) == 2


class Flaky:
    """A store that is lost as long as somebody says so."""

    def __init__(self, inner: Any) -> None:
        self._inner, self.fails = inner, False

    def carry(self, batch: Any) -> Any:
        if self.fails:
            raise ConnectionError("no route to host")
        return self._inner.carry(batch)

    def __getattr__(self, name: str) -> Any:
        if name == "place":
            raise AttributeError(name)
        return getattr(self._inner, name)


def test_a_store_that_is_back_is_told(receiver: Receiver) -> None:
    store = Flaky(MemoryStore())
    with Shield.load(
        {"name": "p", "guards": [{"use": "budget", "calls": 50}]}, store=store
    ) as shield:
        run = shield.run("ann")
        assert run.check("read", {}).proceeds
        store.fails = True
        assert [run.check("read", {}).code for _ in range(3)] == ["kernel.store_lost"] * 3
        assert shield.occurrences.open == {Kind.STORE_LOST}
        store.fails = False
        assert run.check("read", {}).proceeds
        assert shield.occurrences.open == frozenset()
    assert kinds(receiver) == ["store.lost", "store.back"]
    assert receiver.got[1].data["times"] >= 3


FULL = """
import logging, resource, signal, sys
from pathlib import Path
from stanchion import Shield
from stanchion.telemetry.notices.post import Post

logging.basicConfig()
Post.close.__defaults__ = (60.0,)

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder = Path(sys.argv[1])
with Shield.load({"name": "p"}, store="memory:", journal=str(folder)) as shield:
    run = shield.run("ann")
    assert run.check("read", {}).proceeds
    size = max(file.stat().st_size for file in folder.rglob("*.jsonl"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    codes = []
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    codes = [run.check("read", {}).code for _ in range(3)]
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    codes.append(run.check("read", {}).code)
    print(codes)
"""


def test_a_full_disk_is_told_and_that_it_has_room_again(receiver: Receiver, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "trail")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "kernel.audit_lost" in done.stdout
    assert (
        "trail.lost: the audit trail cannot be written: the file has reached its size limit"
        in done.stderr
    )
    got = receiver.wait_for(2) if len(receiver.got) >= 2 else receiver.got
    assert [one.kind for one in got if one.kind.startswith("trail.")][:2] == [
        "trail.lost",
        "trail.back",
    ]


POLICY = "name: p\nguards:\n  - {use: budget, calls: 5}\n"


def test_a_watched_policy_that_does_not_load_is_said_everywhere(
    receiver: Receiver,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from stanchion.cli.main import main

    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    with Shield.load(file) as shield:
        heard = counted(shield)
        watcher = shield.watch(every_s=3600)

        def trouble() -> RefusedPolicy | None:
            return watcher.trouble

        file.write_text(POLICY.replace("calls", "callz"))
        assert watcher.look()
        (refused,) = refused_policies(os.environ)
        assert trouble() == refused
        assert "callz" in refused.error
        assert main(["state"]) == 0
        assert f"could not load `{file}`" in capsys.readouterr().out
        file.write_text(POLICY.replace("calls: 5", "calls: x"))
        assert watcher.look()
        assert [(one.origin, one.since) for one in refused_policies(os.environ)] == [
            (str(file), refused.since)
        ]
        file.write_text(POLICY.replace("5", "4"))
        assert watcher.look()
        assert trouble() is None
        assert list(refused_policies(os.environ)) == []
        assert main(["state"]) == 0
        assert "could not load" not in capsys.readouterr().out
        file.write_text(POLICY)
        assert watcher.look(), "it loosens: that is refused, too"
        assert main(["policy", "show", str(file)]) == 0
        assert "it loosens what is in force" in capsys.readouterr().out
    assert list(refused_policies(os.environ)) == [], "who does not watch any more says nothing"
    assert [one.kind.value for one in heard] == [
        "policy.refused",
        "policy.refused",
        "policy.loaded",
        "policy.refused",
    ]
    assert "callz" in lines(caplog, Kind.POLICY_REFUSED)[0]
    assert kinds(receiver)[:3] == ["policy.refused", "policy.refused", "policy.loaded"]


def test_watching_goes_on_whatever_goes_wrong(tmp_path: Path) -> None:
    """A trail that cannot be written, or whoever is told and fails, does not end it."""
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    looked = threading.Semaphore(0)

    def tell(_outcome: Any) -> None:
        looked.release()
        raise RuntimeError("whoever is told")

    with Shield.load(file) as shield:
        shield.watch(every_s=0.001, tell=tell)
        file.write_text("name: [")
        assert looked.acquire(timeout=60)
        file.write_text(POLICY.replace("5", "44"))
        assert looked.acquire(timeout=60)


def test_the_note_of_a_process_that_is_gone_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    program = (
        "import os, signal, sys; from pathlib import Path; from stanchion import Shield\n"
        "file = Path(sys.argv[1]); shield = Shield.load(file); watcher = shield.watch(3600)\n"
        "file.write_text('name: ['); watcher.look(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(file)], check=False, capture_output=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    folder = Path(os.environ["STANCHION_STATE_DIR"]) / "refused-policies"
    assert len(list(folder.iterdir())) == 1
    assert list(refused_policies(os.environ)) == []
    assert list(folder.iterdir()) == []


def test_a_trail_that_was_changed_is_told_once_by_all_processes(
    receiver: Receiver, tmp_path: Path
) -> None:
    folder = tmp_path / "trail"
    with Shield.load({"name": "p"}, journal=str(folder)) as shield:
        shield.run("ann").check("read", {})
    (segment,) = folder.rglob("*.jsonl")
    body = segment.read_bytes()
    segment.write_bytes(body[:-40])
    for _ in range(2):
        with Shield.load({"name": "p"}, journal=str(folder)) as shield:
            shield.run("ann").check("read", {})
    assert kinds(receiver) == ["trail.tampered"]
    assert segment.parent.name in receiver.got[0].data["text"]


def test_an_answer_about_a_whole_tenant_or_the_fleet_names_it(
    receiver: Receiver, tmp_path: Path
) -> None:
    with Shield.load({"name": "p"}, store=tmp_path / "state.db") as shield:
        for scope in ("", "fleet"):
            shield.halt("a drill", scope=scope)
            with pytest.raises(AnswerRefused):
                shield.resume(scope=scope, by="ann")
    texts = [got.data["text"] for got in receiver.got if got.kind == "answer.refused"]
    assert ["about `tenant:default` was" in texts[0], "about `fleet` was" in texts[1]] == [
        True,
        True,
    ]


def test_a_trail_that_is_cut_while_it_is_written_is_told(
    receiver: Receiver, tmp_path: Path
) -> None:
    folder = tmp_path / "trail"
    with Shield.load({"name": "p"}, journal=str(folder)) as shield:
        run = shield.run("ann")
        run.check("read", {})
        (segment,) = folder.rglob("*.jsonl")
        remove(segment.parent)
        run.check("read", {})
        journal: Trail = shield.journal
        journal.sync(journal._written)
    assert "trail.tampered" in kinds(receiver)


def pay() -> None:
    raise AssertionError("it was refused")


def test_nobody_is_harmed_by_a_receiver_that_fails(receiver: Receiver) -> None:
    receiver.answers = [status(500)] * 100
    with Shield.load(ASKS) as shield:
        run = shield.run("ann")
        run.check("pay", {})
        receiver.wait_for(1)
        assert run.check("read", {}).proceeds
        with pytest.raises(Refused):
            run.call(pay)
    receiver.answers = []
    with Shield.load({"name": "next"}):
        pass
    first = receiver.got[0]
    assert all(got.id == first.id for got in receiver.got if got.kind == first.kind)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("destinatons: {}", "did you mean `destinations`?"),
        ("destinations: {a: {to: webhok, url: x}}", "did you mean `webhook`?"),
        (
            "destinations: {a: {to: webhook, url: 'http://example.org', secret_env: S}}",
            "it is not `https://`",
        ),
        (
            "destinations: {a: {to: webhook, url: 'https://a:b@example.org', secret_env: S}}",
            "must not have a user or a password",
        ),
        (
            "destinations: {a: {to: webhook, url: 'https://example.org'}}",
            "give either `secret_file` or `secret_env`",
        ),
        (
            "destinations: {a: {to: webhook, url: 'https://example.org', secret_env: S}}",
            "`S` is not set",
        ),
        (
            "destinations: {a: {to: webhook, url: 'https://example.org', secret: x}}",
            "`secret` is not known",
        ),
        (
            "destinations: {a: {to: command, command: [mail, ann]}}",
            "`mail` is not an absolute path",
        ),
        ("destinations: {a: {to: command, command: []}}", "too few"),
        (
            "destinations: {a: {to: command, command: [/bin/true], kinds: [ticket.open]}}",
            "`ticket.opened`?",
        ),
        ("destinations: {A b: {to: command, command: [/bin/true]}}", "`A b` is not a name"),
        ("destinations: [", "notify.yaml:1"),
    ],
)
def test_a_file_that_is_wrong_says_where_and_what_to_write(
    tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "notify.yaml"
    file.write_text(text)
    with pytest.raises(NotifyError) as refused:
        Shield.load({"name": "p"}, notify=file)
    assert said in str(refused.value)
    assert str(file) in str(refused.value)


def test_a_policy_has_no_word_in_where_notices_go(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="`notify` is not known"):
        Shield.load({"name": "p", "notify": {"destinations": {}}})


def test_an_agent_can_neither_change_the_file_nor_read_the_secret(
    receiver: Receiver, tmp_path: Path
) -> None:
    guards = [{"use": "files"}, {"use": "shell"}]
    with Shield.load({"name": "p", "guards": guards}) as shield:
        run = shield.run("ann")
        for path in ("notify.yaml", "secret"):
            assert not run.check(
                "write_file", {"path": str(tmp_path / path), "content": ""}
            ).proceeds
            assert not run.check("bash", {"command": f"rm {tmp_path / path}"}).proceeds
        assert not run.check("read_file", {"path": str(tmp_path / "secret")}).proceeds


def test_a_relative_name_in_the_environment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_NOTIFY", "notify.yaml")
    with pytest.raises(NotifyError, match="give an absolute path"):
        Shield.load({"name": "p"})
