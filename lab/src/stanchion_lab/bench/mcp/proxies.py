"""What a call costs through each proxy, one after the other and many at once, in rounds that
interleave."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import anyio

from stanchion_lab.bench.measure import Cost, cost_of
from stanchion_lab.bench.table import Effort, Row, Section

PASSING: Final = "a proxy that passes everything on"
BARE: Final = "stanchion mcp, bare policy"
PACK: Final = "stanchion mcp, pack mcp"
CHAIN: Final = "the chain of pack mcp alone"
ADDED: Final = "what pack mcp adds to a call"
ABLE: Final = ("warn", "redact", "retry", "queue", "escalate")
"""What the proxy can carry out."""
AT_ONCE: Final = 32
TEXT: Final = "a line of ordinary text, as tools give it; " * 5


def proxies(effort: Effort) -> Section:
    """Latency and throughput beside the proxy that judges nothing."""
    rounds, calls = max(4, effort.rounds), max(25, effort.calls // 4)
    with tempfile.TemporaryDirectory() as folder:
        rows = anyio.run(_measured, Path(folder), rounds, calls)
    note = f"processes on pipes, state and trail on disk; `at once` keeps {AT_ONCE} calls under way"
    return Section("the mcp proxy", note, rows)


async def _measured(folder: Path, rounds: int, calls: int) -> list[Row]:
    async with AsyncExitStack() as stack:
        clients = {
            name: await _client(stack, words, folder) for name, words in _commands(folder).items()
        }
        chains = [_judging(stack, folder, name) for name in ("bare", "pack")]
        took: dict[str, list[int]] = {name: [] for name in clients}
        alone: list[list[int]] = [[] for _ in chains]
        at_once: dict[str, list[float]] = {name: [] for name in clients}
        for client in clients.values():
            await _one_by_one(client, calls)
        for _ in range(rounds):
            for name, client in clients.items():
                took[name] += await _one_by_one(client, calls)
                at_once[name].append(await _together(client, calls * 4))
            for chain, each in zip(chains, alone, strict=True):
                each += await _judged(chain, calls)
    costs = {name: cost_of(each) for name, each in took.items()}
    return [*_rows(costs, at_once), *_added(costs, [cost_of(each) for each in alone])]


def _commands(folder: Path) -> dict[str, list[str]]:
    bare = folder / "bare.yaml"
    bare.write_text("name: bare\n")
    echo = [sys.executable, "-m", "stanchion_lab.bench.mcp.echo"]
    ours = [sys.executable, "-m", "stanchion", "mcp", "--policy"]
    # A run of five hundred steps is long for an agent, and short for a bench.
    pack = folder / "pack.yaml"
    pack.write_text(
        "name: pack\nextends: mcp\nguards:\n  - {use: step_limit, max_steps: 1000000000}\n"
    )
    return {
        PASSING: [sys.executable, "-m", "stanchion_lab.bench.mcp.passing", *echo],
        BARE: [*ours, str(bare), "--", *echo],
        PACK: [*ours, str(pack), "--", *echo],
    }


async def _client(stack: AsyncExitStack, words: list[str], folder: Path) -> Any:
    from mcp import Client, StdioServerParameters

    env = {**os.environ, "STANCHION_STATE_DIR": str(folder / "state")}
    described = StdioServerParameters(command=words[0], args=words[1:], env=env)
    return await stack.enter_async_context(Client(described, mode="legacy", cache=None))


def _judging(stack: AsyncExitStack, folder: Path, policy: str) -> Any:
    """A run in this process, as the proxy has one for each client."""
    from stanchion import Shield
    from stanchion.hosts.contract.host import Host

    state = folder / f"chain-{policy}"
    loaded = Shield.load(
        folder / f"{policy}.yaml", store=state / "state.db", journal=state / "trail"
    )
    shield = stack.enter_context(loaded)
    return stack.enter_context(Host("bench", can=ABLE).run(shield, "mcp"))


async def _judged(run: Any, calls: int) -> list[int]:
    """The times of calls that are judged as in the proxy, with a server that answers at once."""

    async def carry(args: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": args["text"]}]}

    took: list[int] = []
    for number in range(calls):
        begun = time.perf_counter_ns()
        await run.acall("echo", {"text": f"{TEXT}{number}"}, carry, about="tools/call")
        took.append(time.perf_counter_ns() - begun)
    return took


async def _one_by_one(client: Any, calls: int) -> list[int]:
    took: list[int] = []
    for number in range(calls):
        begun = time.perf_counter_ns()
        await _call(client, number)
        took.append(time.perf_counter_ns() - begun)
    return took


async def _together(client: Any, calls: int) -> float:
    """Calls in a second, with so many under way at any time."""
    numbers = iter(range(calls))

    async def work() -> None:
        for number in numbers:
            await _call(client, number)

    begun = time.perf_counter()
    async with anyio.create_task_group() as workers:
        for _ in range(AT_ONCE):
            workers.start_soon(work)
    return calls / (time.perf_counter() - begun)


async def _call(client: Any, number: int) -> None:
    result = await client.call_tool("echo", {"text": f"{TEXT}{number}"})
    if result.is_error:
        raise RuntimeError(f"a call was refused: {result.content[0].text}")


def _rows(costs: dict[str, Cost], at_once: dict[str, list[float]]) -> list[Row]:
    base = costs[PASSING].p50_us
    rows = [
        Row(name, cost, None if name == PASSING else round(cost.p50_us / base, 2))
        for name, cost in costs.items()
    ]
    median = {name: sorted(each)[len(each) // 2] for name, each in at_once.items()}
    rows += [
        Row(
            f"{name}, at once",
            ratio=None if name == PASSING else round(each / median[PASSING], 2),
            amount=each,
            unit="calls/s",
        )
        for name, each in median.items()
    ]
    return rows


def _added(costs: dict[str, Cost], chains: list[Cost]) -> list[Row]:
    """What the pack's chain takes by itself, and how much longer a call through the proxy is with
    the pack."""
    bare, pack = chains
    own = pack.p50_us - bare.p50_us
    added = costs[PACK].p50_us - costs[BARE].p50_us
    return [
        Row(CHAIN, amount=own, unit="us"),
        Row(ADDED, ratio=round(added / own, 2), amount=added, unit="us"),
    ]
