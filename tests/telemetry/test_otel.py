"""Spans and metrics as the real SDK of OpenTelemetry exports them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from stanchion import Refused, Shield
from stanchion.telemetry.otel import instrument
from tests.telemetry.shields import POLICY

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Traced:
    """A shield with exporters in memory."""

    def __init__(self, policy: dict[str, Any] = POLICY, **options: Any) -> None:
        self._exporter, self._reader = InMemorySpanExporter(), InMemoryMetricReader()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = provider.get_tracer("test")
        self.shield = Shield.load(policy, store="memory:", journal="memory:", **options)
        self.providers: dict[str, Any] = {
            "tracer_provider": provider,
            "meter_provider": MeterProvider(metric_readers=[self._reader], shutdown_on_exit=False),
        }
        instrument(self.shield, **self.providers)

    @property
    def spans(self) -> dict[str, ReadableSpan]:
        """What has ended, by name."""
        return {span.name: span for span in self._exporter.get_finished_spans()}

    @property
    def all(self) -> tuple[ReadableSpan, ...]:
        """What has ended, in order."""
        return self._exporter.get_finished_spans()

    def metrics(self) -> dict[str, Any]:
        """The points of each metric."""
        data = self._reader.get_metrics_data()
        assert data is not None
        return {
            metric.name: metric.data.data_points
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


def about(span: ReadableSpan) -> dict[str, Any]:
    """A span's attributes."""
    return dict(span.attributes or {})


def current() -> int:
    """The span that is current."""
    return trace.get_current_span().get_span_context().span_id


def id_of(span: ReadableSpan) -> int:
    context = span.get_span_context()
    assert context is not None
    return context.span_id


def test_a_run_and_its_calls_are_one_trace() -> None:
    traced = Traced()
    seen: list[int] = []

    def read(path: str) -> str:
        seen.append(current())
        return path

    with traced.shield.run("writer", "t1") as run:
        run.call(read, path="a")
    run_span, call = traced.spans["invoke_agent writer"], traced.spans["execute_tool read"]
    assert seen == [id_of(call)]
    assert call.parent is not None
    assert call.parent.span_id == id_of(run_span)
    assert run_span.parent is None
    assert about(run_span) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "writer",
        "stanchion.run.id": run.id,
        "stanchion.task": "t1",
        "stanchion.tenant": "default",
        "stanchion.run.end": "kernel.ended",
    }
    found = about(call)
    assert found["gen_ai.operation.name"] == "execute_tool"
    assert found["gen_ai.tool.name"] == "read"
    assert found["gen_ai.tool.call.id"].startswith(run.id)
    assert found["stanchion.action"] == found["stanchion.outcome.action"] == "ALLOW"
    assert [event.attributes["stanchion.stage"] for event in call.events if event.attributes] == [
        "tool_call",
        "tool_result",
    ]
    assert current() == 0


def test_a_refusal_is_an_error_with_its_code_and_nothing_said() -> None:
    traced = Traced()
    with traced.shield.run("writer") as run:
        assert not run.check("rm", {"path": SECRET}).proceeds
    span = traced.spans["execute_tool rm"]
    assert span.status.status_code is trace.StatusCode.ERROR
    assert about(span)["error.type"] == "tool.denied"
    assert about(span)["stanchion.guard"] == "no-rm"
    assert SECRET not in "".join(one.to_json() for one in traced.all)


def test_an_error_names_its_class_and_not_its_text() -> None:
    traced = Traced()

    def broken() -> None:
        raise ConnectionError(f"db-7.internal refused {SECRET}")

    with traced.shield.run("writer") as run, pytest.raises(ConnectionError):
        run.call(broken)
    span = traced.spans["execute_tool broken"]
    assert about(span)["error.type"] == "ConnectionError"
    assert span.status.status_code is trace.StatusCode.ERROR
    text = "".join(one.to_json() for one in traced.all)
    assert "db-7" not in text
    assert SECRET not in text


def test_async_calls_at_once_have_their_own_context() -> None:
    traced = Traced()
    seen: dict[str, int] = {}

    async def read(path: str) -> str:
        await asyncio.sleep(0)
        seen[path] = current()
        with traced.tracer.start_as_current_span(f"inner {path}"):
            await asyncio.sleep(0)
        return path

    def sync(path: str) -> str:
        seen[path] = current()
        return path

    async def work() -> None:
        async with traced.shield.run("writer") as run:
            await asyncio.gather(
                run.acall(read, path="a"), run.acall(read, path="b"), run.acall(sync, path="c")
            )

    asyncio.run(work())
    calls = [id_of(span) for span in traced.all if span.name.startswith("execute_tool")]
    assert sorted(seen.values()) == sorted(calls)
    assert len(set(calls)) == 3
    for path in "ab":
        parent = traced.spans[f"inner {path}"].parent
        assert parent is not None
        assert parent.span_id == seen[path]
    assert len({span.get_span_context().trace_id for span in traced.all}) == 1  # type: ignore[union-attr] # they ended


def test_a_run_is_part_of_what_is_around_it_and_children_of_their_parent() -> None:
    traced = Traced()
    with (
        traced.tracer.start_as_current_span("request"),
        traced.shield.run("boss") as run,
        run.spawn("child") as child,
    ):
        child.call(len, "x")
    spans = traced.spans
    parents = {name: span.parent.span_id for name, span in spans.items() if span.parent is not None}
    assert parents["invoke_agent boss"] == id_of(spans["request"])
    assert parents["invoke_agent child"] == id_of(spans["invoke_agent boss"])
    assert parents["execute_tool len"] == id_of(spans["invoke_agent child"])


def test_a_host_that_reports_has_the_same_spans() -> None:
    traced = Traced()
    run = traced.shield.run("hosted")
    judged = run.check("ls", {})
    assert "execute_tool ls" not in traced.spans
    run.result("ls", {}, "fine", call=judged.id)
    assert about(traced.spans["execute_tool ls"])["stanchion.outcome.action"] == "ALLOW"
    run.check("forgotten", {})
    run.close()
    assert about(traced.spans["execute_tool forgotten"])["stanchion.outcome.unknown"] is True


def test_a_model_call_is_a_chat() -> None:
    traced = Traced()
    with traced.shield.run("writer") as run:
        assert (
            run.model(
                lambda messages, **_: "hello", [{"role": "user", "content": SECRET}], model="m-1"
            )
            == "hello"
        )
    span = traced.spans["chat m-1"]
    assert span.kind is trace.SpanKind.CLIENT
    assert about(span)["gen_ai.request.model"] == "m-1"
    assert SECRET not in span.to_json()


def test_a_tool_that_gives_items_ends_with_the_last() -> None:
    traced = Traced()

    def count() -> Any:
        yield from range(3)

    with traced.shield.run("writer") as run:
        assert list(run.call(count)) == [0, 1, 2]
        assert "execute_tool count" in traced.spans


def test_metrics_are_exported() -> None:
    traced = Traced()
    with traced.shield.run("writer") as run:
        run.call(len, "x")
        with pytest.raises(Refused):
            run.call(traced.shield.tool(name="rm")(len), "y")
    found = traced.metrics()
    decided = {
        (point.attributes["tool"], point.attributes["action"]): point.value
        for point in found["stanchion.decisions"]
    }
    assert decided["len", "ALLOW"] == 1
    assert decided["rm", "BLOCK"] == 1
    by_tool = {
        point.attributes["gen_ai.tool.name"]: point
        for point in found["gen_ai.execute_tool.duration"]
    }
    assert by_tool["len"].count == 1
    assert by_tool["rm"].attributes["error.type"] == "tool.denied"
    (runs,) = found["gen_ai.invoke_agent.duration"]
    assert runs.attributes == {"gen_ai.agent.name": "writer"}
    assert {
        point.attributes["stage"]: point.value
        for point in found["stanchion.decision_seconds.count"]
    }["tool_call"] == 2


def test_names_are_veiled() -> None:
    traced = Traced({"name": "p", "guards": [{"use": "secrets"}]})
    with traced.shield.run(f"agent-{SECRET}", SECRET, id=f"run-{SECRET}") as run:
        run.call(traced.shield.tool(name=f"t_{SECRET}")(lambda: "x"))
    assert len(traced.all) == 2
    assert SECRET not in "".join(one.to_json() for one in traced.all)


def test_a_shield_is_instrumented_once() -> None:
    traced = Traced()
    with pytest.raises(ValueError, match="already"):
        instrument(traced.shield, **traced.providers)
