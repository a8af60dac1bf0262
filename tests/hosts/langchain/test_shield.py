"""An agent that is built once with a shield: each thread, or each invocation, works in a run of its
own."""

from __future__ import annotations

import asyncio
import gc
from inspect import getsource
from typing import Any

import pytest

pytest.importorskip("langgraph.checkpoint.sqlite")

from langchain.agents import create_agent, factory
from langchain.tools import tool
from langchain_core.caches import InMemoryCache
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from stanchion.hosts.langchain import LANGCHAIN, Guarded, guarded
from stanchion.runtime.run import open_runs
from stanchion.testing.host_suite import KEY
from tests.hosts.langchain.clerk import Clerk, Recorder, look
from tests.hosts.together import (
    WRONG,
    all_at_once,
    all_in_threads,
    check_apart,
    kept_shield,
    requests,
    runs_of,
)

NAMES = "lc_agent_name"
"""Where LangChain hands on the name of an agent, in versions that do."""
SECRETS: dict[str, Any] = {"name": "s", "guards": [{"use": "secrets"}]}
NO_LOOKING: dict[str, Any] = {"name": "n", "guards": [{"use": "tool_denylist", "tools": ["look"]}]}


def asked(name: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(name)]}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_judges_nothing_is_refused_when_the_agent_is_built(wrong: Any) -> None:
    with pytest.raises(TypeError, match="`langchain` is given a"):
        Guarded(wrong)
    with pytest.raises(TypeError, match="`langchain` is given a"):
        guarded(Clerk(), wrong)


def test_what_is_no_chat_model_is_refused() -> None:
    shield, _ = kept_shield()
    with pytest.raises(TypeError, match="`RunnableLambda` is no chat model"):
        guarded(RunnableLambda(str), shield)  # type: ignore[arg-type] # that is what is tried


def test_a_hundred_requests_at_once_have_a_run_each() -> None:
    shield, journal = kept_shield()
    agent: Any = create_agent(Clerk(), [look], middleware=[Guarded(shield)])

    async def one(name: str) -> str:
        said: str = (await agent.ainvoke(asked(name)))["messages"][-1].text
        return said

    assert all_at_once(one) == [f"{name} is in order " for name in requests()]
    check_apart(journal, requests())


def test_a_hundred_requests_in_threads_and_in_a_batch_have_a_run_each() -> None:
    for way in ("threads", "batch"):
        shield, journal = kept_shield()
        agent: Any = create_agent(Clerk(), [look], middleware=[Guarded(shield)])
        if way == "batch":
            came = agent.batch([asked(name) for name in requests()])
        else:
            came = all_in_threads(lambda name: agent.invoke(asked(name)))  # noqa: B023 - it is called here
        said = [one["messages"][-1].text for one in came]
        assert said == [f"{name} is in order " for name in requests()]
        check_apart(journal, requests())


def test_a_hundred_streams_at_once_have_a_run_each() -> None:
    shield, journal = kept_shield()
    agent: Any = create_agent(Clerk(), [look], middleware=[Guarded(shield)])

    async def one(name: str) -> str:
        pieces = agent.astream(asked(name), stream_mode="messages")
        return "".join([piece.text async for piece, about in pieces if piece.type != "tool"])

    assert all_at_once(one) == [f"I  will  look {name} is in order " for name in requests()]
    check_apart(journal, requests())


def test_runs_of_invocations_that_are_over_are_closed() -> None:
    shield, journal = kept_shield()
    guard = Guarded(shield)
    agent: Any = create_agent(Clerk(), [look], middleware=[guard])
    for name in requests()[:20]:
        agent.invoke(asked(name))
        gc.collect()
    assert len(guard._works._tied) <= 3
    assert len(runs_of(journal)) == 20


def test_a_thread_keeps_its_run() -> None:
    shield, journal = kept_shield()
    agent: Any = create_agent(
        Clerk(), [look], middleware=[Guarded(shield)], checkpointer=InMemorySaver()
    )
    for thread in ("a", "b", "a"):
        agent.invoke(asked("page-1"), {"configurable": {"thread_id": thread}})
    assert sorted(len(records) for records in runs_of(journal).values()) == [7, 14]


def test_agents_as_tools_work_in_children() -> None:
    shield, _ = kept_shield()
    seen: list[Any] = []

    @tool("look")
    def look_around(name: str) -> str:
        """Look at a page."""
        seen.append([run.desk.info for run in open_runs()])
        return "fine"

    desk: Any = create_agent(Clerk(), [look_around], middleware=[Guarded(shield, agent="desk")])

    @tool
    def ask(name: str) -> str:
        """Ask the desk."""
        said: str = desk.invoke(asked(name))["messages"][-1].text
        return said

    agent: Any = create_agent(Clerk(tool="ask"), [ask], middleware=[Guarded(shield)], name="boss")
    for config in ({}, {"configurable": {"thread_id": "t"}}):
        assert agent.invoke(asked("page-1"), config)["messages"][-1].text.startswith("fine")
    for boss, within in seen:
        assert (boss.agent, within.agent) == ("boss" if NAMES in getsource(factory) else "", "desk")
        assert within.parents == (boss.id,)
    assert len({infos[0].id for infos in seen}) == 2


def graph_of(shield: Any) -> Any:
    """A graph without `create_agent`: a model in a node of its own, and LangGraph's own node for
    tools."""
    guard = Guarded(shield)
    model = guard.model(Clerk()).bind_tools([look])
    tools = ToolNode(
        [look], wrap_tool_call=guard.wrap_tool_call, awrap_tool_call=guard.awrap_tool_call
    )
    graph: Any = StateGraph(MessagesState)

    def ask(state: Any) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    graph.add_node("model", ask)
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition, ["tools", END])
    graph.add_edge("tools", "model")
    return graph.compile()


def test_a_graph_of_ones_own_is_judged_in_one_run() -> None:
    shield, journal = kept_shield()
    graph = graph_of(shield)
    said = all_in_threads(lambda name: graph.invoke(asked(name))["messages"][-1].text)
    assert said == [f"{name} is in order " for name in requests()]
    check_apart(journal, requests())


def test_a_refused_call_of_a_graph_is_read_by_its_model() -> None:
    shield, _ = kept_shield(NO_LOOKING)
    said = graph_of(shield).invoke(asked("page-1"))["messages"]
    assert (said[2].type, said[2].status) == ("tool", "error")
    assert "in order" not in said[-1].text


def test_a_model_alone_is_judged_however_it_is_asked() -> None:
    shield, journal = kept_shield(SECRETS)
    model = guarded(Clerk(tool=""), shield, agent="alone")
    chain: Any = RunnableLambda(lambda asked: model.invoke(asked).text)
    ways: dict[str, Any] = {
        "invoke": lambda: model.invoke([HumanMessage("x"), tool_said()]).text,
        "batch": lambda: model.batch([[HumanMessage("x"), tool_said()]])[0].text,
        "stream": lambda: "".join([one.text for one in model.stream([tool_said()])]),
        "ainvoke": lambda: asyncio.run(model.ainvoke([tool_said()])).text,
        "chain": lambda: chain.invoke([tool_said()]),
    }
    for way, ask in ways.items():
        assert ask() == "the key is [redacted:github-pat] ", way
    assert len(runs_of(journal)) == len(ways)
    assert isinstance(model, Clerk)


def tool_said() -> Any:
    """What a model repeats: it holds a secret that the model may read, and nobody may hear."""
    return ("ai", f"the key is {KEY}")


def test_a_reply_from_a_cache_is_judged() -> None:
    shield, _ = kept_shield(SECRETS)
    cache = InMemoryCache()
    plain = Clerk(tool="", cache=cache)
    asking = [tool_said()]
    assert KEY in plain.invoke(asking).text
    assert KEY not in guarded(plain, shield).invoke(asking).text
    assert KEY not in asyncio.run(guarded(plain, shield).ainvoke(asking)).text


def test_a_handler_hears_nothing_that_is_withheld_however_a_model_tells_it() -> None:
    """`Clerk` tells of its tokens itself where it is asked for a whole reply."""
    shield, _ = kept_shield(SECRETS)
    for way in ("invoke", "ainvoke", "stream"):
        recorder = Recorder()
        model = guarded(Clerk(tool=""), shield).with_config(callbacks=[recorder])
        match way:
            case "invoke":
                model.invoke([tool_said()])
            case "ainvoke":
                asyncio.run(model.ainvoke([tool_said()]))
            case _:
                list(model.stream([tool_said()]))
        heard = [one for one in recorder.events if one[0] != "model_start"]
        assert heard
        assert KEY[:12] not in str(heard), way


def test_the_run_that_is_given_works_for_all_requests() -> None:
    shield, journal = kept_shield()
    with LANGCHAIN.run(shield) as hosted:
        agent: Any = create_agent(Clerk(), [look], middleware=[Guarded(hosted)])
        agent.batch([asked(name) for name in requests()[:5]])
    assert len(runs_of(journal)) == 1


class Named(Clerk):
    """A model that can be asked for by another name; `asked` is told by which."""

    model_name: str = "large"
    asked: Any = None

    def _stream(self, messages: Any, *given: Any, **options: Any) -> Any:
        self.asked.append((self.model_name, options.get("max_tokens")))
        return super()._stream(messages, *given, **options)


def test_a_lesser_model_is_asked_where_that_was_decided() -> None:
    prices = {
        "large": {"input_usd_per_mtok": 10, "output_usd_per_mtok": 100},
        "small": {"input_usd_per_mtok": 1, "output_usd_per_mtok": 10},
    }
    shield, _ = kept_shield(
        {
            "name": "tiers",
            "degrade": {"models": {"large": "small"}, "max_tokens": 200},
            "prices": prices,
            "guards": [{"use": "budget", "cost_usd": 1, "degrade_at": 80}],
        }
    )
    told: list[Any] = []
    with LANGCHAIN.run(shield) as hosted:
        model = guarded(Named(tool="", asked=told), hosted)
        model.invoke("page-1")
        hosted.run.charge(cost_usd=0.75)
        model.invoke("page-2")
        list(model.stream("page-3"))
    assert told == [("large", None), ("small", 200), ("small", 200)]
