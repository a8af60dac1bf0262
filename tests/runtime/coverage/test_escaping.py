"""What is in no call that was decided is named; what is in one is not."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield, Ungoverned
from stanchion.cli.main import main
from stanchion.hosts import EVERYTHING, Host, own_work
from tests.hosts.http.servers import serving
from tests.runtime.coverage.doing import (
    BARE,
    connect,
    facts,
    in_thread,
    installed,
    listening,
    named,
    start,
    watching,
    write,
)


def test_an_unguarded_tool_is_named_with_its_place_and_without_its_arguments() -> None:
    shield, journal = watching()
    with shield.run(agent="ann") as run:
        start()
    (fact,) = facts(journal)
    assert (fact.about, fact.run, fact.by) == ("tool:start", run.id, "ann")
    assert fact.data["kind"] == "process"
    assert fact.data["within"][0] == "start"
    assert fact.data["place"].endswith(f"coverage/doing.py:{start.__code__.co_firstlineno + 2}")
    assert "hunter2" not in repr(fact)


def test_an_unguarded_client_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shield, journal = watching()
    client = installed(tmp_path, monkeypatch, "parcels")
    with listening() as port, shield.run():
        client.ask(port)
    assert named(journal) == [("client", "parcels")]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_sub_agent_inside_a_tool_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    shield, journal = watching()
    client = installed(tmp_path, monkeypatch, "openai")

    def delegate(port: int) -> str:
        return str(client.ask(port))

    with listening() as port, shield.run() as run:
        said = asyncio.run(run.acall(delegate, port)) if is_async else run.call(delegate, port)
    assert said == "hello"
    (fact,) = facts(journal)
    assert (fact.about, fact.data["through"]) == ("agent:delegate", "openai")


def test_a_sub_agent_whose_requests_are_decided_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shield, journal = watching()
    client = installed(tmp_path, monkeypatch, "openai")

    def delegate(port: int) -> str:
        with shield.run(agent="sub") as child:
            return str(child.model(lambda _: client.ask(port), []))

    with listening() as port, shield.run() as run:
        run.call(delegate, port)
        run.model(lambda _: client.ask(port), [])
    assert named(journal) == []


def test_a_guarded_client_is_not_named() -> None:
    """Inside a tool and outside of one: the request was decided as it left."""
    httpx = pytest.importorskip("httpx")
    shield, journal = watching("refuse")

    def fetch(url: str) -> int:
        with httpx.Client(transport=run.httpx_transport()) as client:
            return int(client.get(url).status_code)

    with serving() as server, shield.run() as run:
        url = f"http://127.0.0.1:{server.port}/"
        assert (run.call(fetch, url), fetch(url)) == (200, 200)
    assert named(journal) == []


def covered_by_a_call(run: Any, path: Path) -> None:
    run.call(write, path)


def covered_with_a_limit(run: Any, path: Path) -> None:
    from stanchion import Tool

    run.call(Tool(write, timeout_s=30), path)


def covered_by_a_decorator(run: Any, path: Path) -> None:
    run.desk.shield.tool(write)(path)


def covered_by_a_generator(run: Any, path: Path) -> None:
    def lines() -> Iterator[str]:
        yield "one"
        write(path)
        yield "two"

    assert list(run.call(lines)) == ["one", "two"]


def covered_by_an_async_tool(run: Any, path: Path) -> None:
    async def work() -> str:
        return await asyncio.create_task(asyncio.to_thread(write, path))

    asyncio.run(run.acall(work))


def covered_by_an_async_generator(run: Any, path: Path) -> None:
    async def lines() -> AsyncIterator[str]:
        yield write(path)

    async def all_of_them() -> None:
        assert [line async for line in run.acall(lines)] == ["done"]

    asyncio.run(all_of_them())


def covered_by_a_model(run: Any, path: Path) -> None:
    run.model(lambda _: write(path), [])


def covered_by_an_async_model(run: Any, path: Path) -> None:
    async def ask(_: Any) -> str:
        return await asyncio.to_thread(write, path)

    asyncio.run(run.amodel(ask, []))


def covered_by_a_stream(run: Any, path: Path) -> None:
    def pieces() -> Iterator[str]:
        yield "one "
        write(path)
        yield "two"

    assert "".join(run.stream(pieces())) == "one two"


def covered_by_a_host(run: Any, path: Path) -> None:
    assert (
        Host("loop", can=EVERYTHING)
        .on(run)
        .call("write", {"path": str(path)}, lambda args: write(Path(args["path"])))
        == "done"
    )


def covered_by_a_report(run: Any, path: Path) -> None:
    run.check("write", {"path": str(path)})
    write(path)
    run.result("write", {"path": str(path)}, "done")


def covered_by_a_bound_thread(run: Any, path: Path) -> None:
    run.call(lambda: in_thread(run.bind(lambda: write(path))))


def covered_by_a_pool(run: Any, path: Path) -> None:
    def work() -> str:
        with run.thread_pool() as pool:
            return str(pool.submit(write, path).result())

    run.call(work)


def covered_in_a_thread_of_no_run(run: Any, path: Path) -> None:
    run.call(lambda: in_thread(lambda: write(path)))


GUARDED = [one for name, one in list(globals().items()) if name.startswith("covered_")]


@pytest.mark.parametrize("do", GUARDED, ids=lambda do: do.__name__)
@pytest.mark.parametrize("mode", ["observe", "refuse"])
def test_a_guarded_run_names_nothing(
    do: Callable[[Any, Path], None], mode: str, tmp_path: Path
) -> None:
    shield, journal = watching(mode)
    with shield.run() as run:
        do(run, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "written"
    assert named(journal) == []


def test_stanchions_own_work_is_not_named(tmp_path: Path) -> None:
    with (
        Shield.load(
            "default", store=tmp_path / "state.db", journal=tmp_path / "trail", coverage="refuse"
        ) as shield,
        shield.run(agent="ann") as run,
    ):
        run.check("bash", {"command": "ls"})
        assert run.call(lambda: 5) == 5


def test_what_is_done_after_a_call_is_named(tmp_path: Path) -> None:
    shield, journal = watching()
    with shield.run() as run:
        run.call(write, tmp_path / "guarded")
        run.check("write", {})
        run.result("write", {}, "done")
        write(tmp_path / "open")
    assert [fact.data["target"] for fact in facts(journal)] == [str(tmp_path / "open")]


def test_async_code_beside_a_guarded_call_is_named(tmp_path: Path) -> None:
    shield, journal = watching()

    async def work() -> None:
        ready, go = asyncio.Event(), asyncio.Event()

        async def guarded() -> str:
            ready.set()
            await go.wait()
            return write(tmp_path / "guarded")

        async with shield.run() as run:
            call = asyncio.create_task(run.acall(guarded))
            await ready.wait()
            write(tmp_path / "open")
            go.set()
            await call

    asyncio.run(work())
    assert [fact.data["target"] for fact in facts(journal)] == [str(tmp_path / "open")]


def test_a_thread_of_no_run_belongs_to_the_run_that_is_open(tmp_path: Path) -> None:
    shield, journal = watching()
    with shield.run() as run:
        in_thread(lambda: write(tmp_path / "file"))
    (fact,) = facts(journal)
    assert (fact.run, fact.data["by"]) == (run.id, "time")


def test_while_a_call_is_under_way_a_thread_of_no_run_is_only_counted(tmp_path: Path) -> None:
    shield, journal = watching("refuse")
    with shield.run() as run:
        run.call(lambda: in_thread(lambda: write(tmp_path / "file")))
    (summary,) = facts(journal, "coverage.watched")
    assert summary.data == {"mode": "refuse", "unsure": 1}


def test_nobody_is_watched_before_and_after_a_run(tmp_path: Path) -> None:
    shield, journal = watching("refuse")
    write(tmp_path / "before")
    with shield.run() as run:
        run.call(write, tmp_path / "meanwhile")
    write(tmp_path / "after")
    assert named(journal) == []


def test_a_sub_agent_under_another_shield_is_covered_by_its_own_calls_alone(tmp_path: Path) -> None:
    shield, journal = watching()
    other = Shield.load({"name": "other", "guards": []}, store="memory:", journal="memory:")
    with shield.run(), other.run() as run:
        run.call(write, tmp_path / "guarded")
        write(tmp_path / "open")
    assert [fact.data["target"] for fact in facts(journal)] == [str(tmp_path / "open")]


def remove(path: Path) -> None:
    path.unlink()


def rename(path: Path) -> None:
    path.rename(path.with_name("other"))


def database(path: Path) -> None:
    sqlite3.connect(path.with_name("state.db")).close()


def shell(_: Path) -> None:
    os.system("true")  # noqa: S605 - that is what is watched for


def spawn(_: Path) -> None:
    os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", "true"], {}), 0)


def program(_: Path) -> None:
    subprocess.run(["/bin/true"], check=True, close_fds=False)  # by posix_spawn on every Python


def folder(path: Path) -> None:
    path.with_name("folder").mkdir()


def link(path: Path) -> None:
    path.with_name("link").symlink_to(path)


def second_name(path: Path) -> None:
    os.link(path, path.with_name("second"))


def cut(path: Path) -> None:
    os.truncate(path, 0)


def permit(path: Path) -> None:
    path.chmod(0o600)


def date(path: Path) -> None:
    os.utime(path)


def fork(_: Path) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def worker(_: Path, way: str = "spawn") -> None:
    context: Any = multiprocessing.get_context(way)
    made = context.Process(target=os.getpid)
    made.start()
    made.join()


@pytest.mark.parametrize(
    ("do", "kind", "target"),
    [
        (folder, "file", "folder"),
        (link, "file", "link"),
        (second_name, "file", "file"),
        (cut, "file", "file"),
        (permit, "file", "file"),
        (date, "file", "file"),
        (fork, "process", "this process"),
        (worker, "process", "this process"),
        (remove, "file", "file"),
        (rename, "file", "file"),
        (database, "database", "state.db"),
        (shell, "process", "true"),
        (spawn, "process", "sh"),
        (program, "process", "true"),
    ],
)
def test_what_is_touched_is_named_whatever_its_kind(
    do: Callable[[Path], None], kind: str, target: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_text("")
    shield, journal = watching()
    with shield.run():
        do(path)
    (fact,) = facts(journal)
    assert (fact.data["kind"], fact.data["name"]) == (kind, do.__name__)
    assert fact.data["target"].endswith(target)


@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
def test_a_worker_gets_no_work_where_the_shield_refuses(way: str, tmp_path: Path) -> None:
    shield, journal = watching("refuse")
    context: Any = multiprocessing.get_context(way)
    made = context.Process(target=write, args=(tmp_path / "file",))
    with shield.run(), pytest.raises(Ungoverned, match="in no call that was decided"):
        made.start()
    assert facts(journal)[0].data["stopped"]
    with shield.run() as run:
        run.call(worker, tmp_path, way)
        with own_work("a pool of ours"):
            worker(tmp_path, way)
    assert not (tmp_path / "file").exists()


def test_a_run_that_only_escapes_is_found(tmp_path: Path) -> None:
    trail = tmp_path / "trail"
    with Shield.load(BARE, store="memory:", journal=trail, coverage="refuse") as shield:
        with shield.run(id="run-1"), pytest.raises(Ungoverned):
            folder(tmp_path / "file")
        with shield.run(id="run-2"), own_work("a folder of ours"):
            folder(tmp_path / "file")
    assert main(["audit", "coverage", "--trail", str(trail), "--run", "run-1"]) == 3
    assert main(["audit", "coverage", "--trail", str(trail), "--run", "run-2"]) == 0


def test_reading_and_memory_touch_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("there")
    shield, _ = watching("refuse")
    with shield.run():
        assert path.read_text() == "there"
        sqlite3.connect(":memory:").close()
        tmp_path.mkdir(exist_ok=True)
        with open(os.devnull, "w") as nowhere:
            nowhere.write("nothing")


def test_the_hosts_own_work_is_counted(tmp_path: Path) -> None:
    shield, journal = watching("refuse")
    with shield.run() as run:
        run.call(lambda: None)
        with own_work("checkpoint"):
            write(tmp_path / "checkpoint")
        with pytest.raises(Ungoverned):
            write(tmp_path / "file")
    assert facts(journal, "coverage.watched")[0].data["vouched"] == 1
    with pytest.raises(ValueError, match="what the host does"), own_work(" "):
        pass


def test_refusing_stops_it_before_it_happens(tmp_path: Path) -> None:
    shield, journal = watching("refuse")
    with listening() as port, shield.run():
        for do in (lambda: write(tmp_path / "file"), start, lambda: connect(port)):
            with pytest.raises(Ungoverned, match="in no call that was decided"):
                do()
    assert not (tmp_path / "file").exists()
    assert [fact.data["stopped"] for fact in facts(journal)] == [True] * 3
