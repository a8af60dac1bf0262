"""Figures over HTTP: by WSGI, by ASGI, by the command's own server, and on its output."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from stanchion import Shield
from stanchion.cli.main import main
from stanchion.cli.metrics import StoreTrouble
from stanchion.runtime.standing.state_figures import state_figures
from stanchion.telemetry import asgi, wsgi
from stanchion.telemetry.registry import Series
from stanchion.telemetry.server import server
from stanchion.testing import shield_for
from tests.ports import Port
from tests.telemetry.shields import watched


def decided() -> Shield:
    """A shield that has decided something."""
    shield = watched()
    shield.run("a1").check("rm", {})
    return shield


def names(text: str) -> set[str]:
    """The families in a text, as Prometheus reads it."""
    return {family.name for family in text_string_to_metric_families(text)}


def broken() -> Iterable[Series]:
    raise OSError("/secret/place cannot be read")


def test_wsgi() -> None:
    collect = decided().telemetry.collect
    environ: dict[str, Any] = {}
    setup_testing_defaults(environ)
    environ["QUERY_STRING"] = ""
    got: list[Any] = []

    def start(status: str, headers: list[tuple[str, str]], exc: Any = None) -> Any:
        got.extend([status, dict(headers)])
        return lambda _: None

    answered: Any = validator(wsgi.app(collect))(environ, start)
    body = b"".join(answered)
    answered.close()
    assert got[0] == "200 OK"
    assert got[1]["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert int(got[1]["Content-Length"]) == len(body)
    assert "stanchion_decisions" in names(body.decode())


def test_asgi() -> None:
    shield = decided()

    async def served() -> None:
        transport = httpx.ASGITransport(app=asgi.app(shield.telemetry.collect))
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            plain = await client.get("/metrics")
            assert plain.status_code == 200
            assert "stanchion_decisions" in names(plain.text)
            other = await client.get("/metrics", headers={"Accept": "application/openmetrics-text"})
            assert other.headers["content-type"].startswith("application/openmetrics-text")
            assert other.text.endswith("# EOF\n")
            assert (await client.post("/metrics")).status_code == 405
            assert (await client.head("/metrics")).content == b""

    asyncio.run(served())


def test_asgi_lifespan() -> None:
    said = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return next(said)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(_lived(receive, send))
    assert [one["type"] for one in sent] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]


async def _lived(receive: Any, send: Any) -> None:
    await asgi.app(broken)({"type": "lifespan"}, receive, send)


def test_what_cannot_be_read_is_logged_and_not_sent(caplog: pytest.LogCaptureFixture) -> None:
    transport = httpx.ASGITransport(app=asgi.app(broken))

    async def served() -> httpx.Response:
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.get("/")

    got = asyncio.run(served())
    assert got.status_code == 503
    assert "secret" not in got.text
    assert "/secret/place" in caplog.text


def test_the_commands_own_server() -> None:
    shield = decided()
    with server(shield.telemetry.collect, "127.0.0.1", 0) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        try:
            at = f"http://127.0.0.1:{made.server_address[1]}"
            with urllib.request.urlopen(f"{at}/metrics") as got:
                assert "stanchion_decisions" in names(got.read().decode())
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"{at}/other")
        finally:
            made.shutdown()
            thread.join()


def test_the_command_adds_up_what_processes_have_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("STANCHION_STORE")
    monkeypatch.delenv("STANCHION_AUDIT")
    policy = {
        "name": "p",
        "guards": [{"id": "calls", "use": "budget", "per": "tenant", "calls": 4}],
    }
    for _ in range(2):
        with Shield.load(policy) as shield:
            shield.run("a1").call(len, "x")
    (tmp_path / "p.yaml").write_text(json.dumps(policy))
    assert main(["metrics", "--policy", str(tmp_path / "p.yaml")]) == 0
    found = {
        (sample.name, sample.labels.get("stage", sample.labels.get("measure", ""))): sample.value
        for family in text_string_to_metric_families(capsys.readouterr().out)
        for sample in family.samples
    }
    assert found["stanchion_decisions_total", "tool_call"] == 2
    assert found["stanchion_runs_total", ""] == 2
    assert found["stanchion_processes", ""] == 0
    assert found["stanchion_store_up", ""] == 1
    assert found["stanchion_trail_records_total", ""] > 4
    assert found["stanchion_budget_used_ratio", "one"] == 0.5
    assert main(["metrics", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {"metric": "stanchion_runs_total", "kind": "counter", "labels": {}, "value": 2} in lines


def test_figures_are_kept_where_they_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANCHION_METRICS_DIR", str(tmp_path / "fleet"))
    with watched() as shield:
        shield.run("a1").check("ls", {})
        closed = shield.policy
    assert list((tmp_path / "fleet").glob("*.figures"))
    assert not (tmp_path / "state" / "metrics").exists()
    own = Shield.load("default", store="memory:", journal="memory:")
    decision = own.run("a1").check("bash", {"command": f"rm -r {tmp_path}/fleet"})
    assert not decision.proceeds
    assert closed is not None


def test_bad_input_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", "--serve", "99999999"]) == 2
    assert "`--serve` is `99999999`, which is not a port" in capsys.readouterr().err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["metrics", "--serve", str(taken.getsockname()[1])]) == 2
    assert "address already in use; choose another port" in capsys.readouterr().err
    assert main(["metrics", "--store", "elsewhere://x"]) == 2
    assert "`elsewhere:` is not a kind of store" in capsys.readouterr().err
    assert main(["metrics", "--policy", "/nowhere.yaml"]) == 2


def test_what_was_counted_is_shown_while_the_store_is_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANCHION_METRICS_DIR", str(tmp_path))
    with decided() as shield:
        shield.telemetry.publish_in(tmp_path)
    port = Port()
    for url in (
        f"redis://ann:s3cr3t@127.0.0.1:{port.number}",
        f"postgresql://ann:s3cr3t@127.0.0.1:{port.number}/db",
    ):
        assert main(["metrics", "--store", url]) == 0
        shown = capsys.readouterr()
        assert "stanchion_store_up 0" in shown.out
        assert 'stanchion_decisions_total{stage="tool_call",tool="rm"' in shown.out
        assert "cannot be reached" in shown.err
        assert "s3cr3t" not in shown.err
    port.release()


def test_a_server_says_once_that_the_store_is_away(capsys: pytest.CaptureFixture[str]) -> None:
    trouble = StoreTrouble()
    for why in ("gone", "gone", "full", "", "", "full"):
        trouble.told(why)
    assert capsys.readouterr().err.split("\n") == [
        "stanchion: gone",
        "stanchion: full",
        "stanchion: full",
        "",
    ]


def test_the_budgets_of_tasks_are_shown_by_the_limits_of_their_tasks() -> None:
    policy = {
        "name": "p",
        "tasks": {"small": {"budget": {"tokens": 200}}, "large": {"budget": {"tokens": 800}}},
        "guards": [{"id": "calls", "use": "budget", "per": "task", "of_task": "tokens"}],
    }
    with shield_for(policy) as shield:
        for task in ("small", "large", "other"):
            shield.run("a1", task).check("work", {}, tokens=100)
        found = [
            one
            for one in state_figures(shield.store, shield.policy, ["default"])
            if "budget" in one.metric
        ]
    assert {(one.labels[-1], one.values[0]) for one in found} == {("small", 0.5), ("large", 0.125)}
