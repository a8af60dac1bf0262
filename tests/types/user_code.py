"""What a user writes, with the types that come of it. The type checker reads this file, and its
functions run.

An ignore that is not needed is an error: each stands for a mistake that the checker finds.
"""

import asyncio
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import suppress
from typing import Any, assert_type

from stanchion import Decision, Run, Shield, Tool, current_run


def read_file(path: str, lines: int = 10) -> str:
    return path * lines


async def fetch(url: str) -> bytes:
    return url.encode()


def count(to: int) -> Generator[int, None, None]:
    yield from range(to)


async def words(text: str) -> AsyncIterator[str]:
    for word in text.split():
        yield word


def calls(run: Run) -> None:
    assert_type(run.call(read_file, "a", lines=2), str)
    assert_type(run.call(Tool(read_file, "read"), "a"), Any)
    assert_type(list(run.call(count, 3)), list[int])
    assert_type(run.call_once("key", read_file, path="a"), Any)


async def async_calls(run: Run) -> None:
    assert_type(await run.acall(fetch, "a"), bytes)
    assert_type(await run.acall(read_file, "a"), str)
    assert_type([word async for word in run.acall(words, "a b")], list[str])
    assert_type([number async for number in run.acall(count, to=2)], list[int])


def reports(run: Run) -> None:
    decision = assert_type(
        run.check("bash", {"command": "ls"}, tokens=10, duration_s=0.5), Decision
    )
    assert_type(run.result("bash", {"command": "ls"}, "a", call=decision.id, tokens=8), Decision)
    assert_type(run.judge("prompt", text="hello"), Decision)
    assert_type(run.error("bash", ValueError("no"), args={}, status=500), Decision)
    assert_type(run.charge(10, 0.5, settled=True), Decision)
    assert_type(run.egress("https://example.com", headers={}, tool="fetch"), Decision)


async def async_reports(run: Run) -> None:
    assert_type(await run.acheck("bash", {}, cost_usd=0.01), Decision)
    assert_type(await run.ahandoff("other", {"task": "x"}, tokens=10), Decision)


def children(run: Run) -> None:
    with run.spawn("child", budget={"calls": 3}, deadline_s=60.0, tools=["bash"]) as child:
        assert_type(child, Run)
        assert_type(current_run(), Run | None)


def streams(run: Run) -> None:
    assert_type(run.stream(["a", "b"], final=True), Iterator[str])


def shielded(shield: Shield) -> None:
    @shield.tool
    def plain(path: str) -> int:
        return len(path)

    @shield.tool(risk="high", once=True)
    async def later(path: str, *, deep: bool = False) -> list[str]:
        return [path] if deep else []

    with shield.run(agent="a", deadline_s=60.0):
        assert_type(plain("a"), int)
        assert_type(asyncio.run(later("a", deep=True)), list[str])
        with suppress(TypeError):
            plain(pth="a")  # type: ignore[call-arg]  # there is no such parameter


def mistakes(shield: Shield, run: Run) -> list[str]:
    """What the checker finds before anything runs, and what Python says when it runs all the
    same."""
    said = []
    for mistake in (
        lambda: run.check("bash", {}, token=3),  # type: ignore[call-arg]  # it is `tokens`
        lambda: run.result("bash", {}, "a", cal="id"),  # type: ignore[call-arg]  # it is `call`
        lambda: run.model_reply("text", finall=True),  # type: ignore[call-arg]  # it is `final`
        lambda: run.spawn("child", deadline=3.0),  # type: ignore[call-arg]  # it is `deadline_s`
        lambda: run.stream(["a"], chanel="text"),  # type: ignore[call-arg]  # it is `channel`
        lambda: run.model(lambda messages: "a", [], parms={}),  # type: ignore[call-arg]  # it is `params`
        lambda: shield.run(agnet="a"),  # type: ignore[call-arg]  # it is `agent`
        lambda: shield.tool(rsk="high"),  # type: ignore[call-overload]  # it is `risk`
        lambda: shield.watch(evry_s=2.0),  # type: ignore[call-arg]  # it is `every_s`
        lambda: shield.tickets(tennant="a"),  # type: ignore[call-arg]  # it is `tenant`
        lambda: shield.approve("id", by="ann", commment="x"),  # type: ignore[call-arg]  # it is `comment`
        lambda: Shield.load("default", tennant="a"),  # type: ignore[call-arg]  # it is `tenant`
    ):
        try:
            mistake()
        except TypeError as error:
            said.append(str(error))
    return said


def wrong_types(run: Run) -> None:
    run.check("bash", ["ls"])  # type: ignore[arg-type]  # arguments are a mapping
    run.call(read_file, path=3)  # type: ignore[call-overload]  # a path is a text
    run.judge("prompt", txt="hello")  # type: ignore[call-arg]  # no stage has such a field
