"""The catalogue: every metric there is, with its labels and what it means; the reference page is
made from it."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

OTHER: Final = "other"
"""The label of whatever there was no room for."""

OPEN: Final = frozenset(
    {"tool", "guard", "code", "event", "kind", "budget", "whose", "tenant", "sink", "guardrail_id"}
)
"""Labels whose values come from outside; where too many are known, new ones become `other`."""

DECISION_BOUNDS: Final = (
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0,
    5.0, 30.0,
)  # fmt: skip
GUARDRAIL_BOUNDS_MS: Final = (
    0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0,
    1_000.0, 5_000.0, 30_000.0,
)  # fmt: skip
STORE_BOUNDS: Final = (
    0.000_1,
    0.000_25,
    0.000_5,
    0.001,
    0.002_5,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.5,
    1.0,
    5.0,
)


class Metric(msgspec.Struct, frozen=True):
    """One metric: its name, how it counts, what it means, its labels, and for a histogram its upper
    bounds. Of a gauge that is a `latest` time, the latest of all processes counts, also of those
    that have ended."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()
    latest: bool = False

    @property
    def unit(self) -> str:
        """The unit of a histogram: seconds, or milliseconds where its name says so."""
        return "ms" if self.name.endswith("_ms") else "s"

    @property
    def width(self) -> int:
        """How many numbers a series of it has: a histogram its sum, a count for each bound, and one
        beyond them."""
        return len(self.bounds) + 2 if self.kind == "histogram" else 1


DECISIONS: Final = Metric(
    "stanchion_decisions_total",
    "counter",
    "Decisions, by the stage of the event, its tool, the action, and the guard that determined it.",
    ("stage", "tool", "action", "guard"),
)
DECISION_SECONDS: Final = Metric(
    "stanchion_decision_seconds",
    "histogram",
    "How long a decision took until it was recorded, including the wait for the store and for "
    "answers.",
    ("stage",),
    DECISION_BOUNDS,
)
SHADOW: Final = Metric(
    "stanchion_shadow_findings_total",
    "counter",
    "Findings of guards in shadow mode: what would have been decided if they counted.",
    ("guard", "action"),
)
FAILURES: Final = Metric(
    "stanchion_failures_total",
    "counter",
    "Findings that report a failure while judging, by their code.",
    ("code",),
)
RUNS: Final = Metric("stanchion_runs_total", "counter", "Runs that have begun.")
RUNS_ENDED: Final = Metric(
    "stanchion_runs_ended_total", "counter", "Runs that have ended, by the reason.", ("code",)
)
EVENTS: Final = Metric(
    "stanchion_events_total",
    "counter",
    "Records of the trail that are not decisions: tickets, changes of state, policies that came "
    "into force, and so on.",
    ("event",),
)
TICKETS: Final = Metric(
    "stanchion_tickets_total",
    "counter",
    "Tickets, by what became of them: opened, approved, denied, and so on.",
    ("event",),
)
POLICY_LOADS: Final = Metric(
    "stanchion_policy_loads_total",
    "counter",
    "Policies that were loaded again, by the outcome: `loaded` or `refused`.",
    ("outcome",),
)
OCCURRENCES: Final = Metric(
    "stanchion_occurrences_total",
    "counter",
    "Events that operators are notified of, by their kind.",
    ("kind",),
)
STORE_SECONDS: Final = Metric(
    "stanchion_store_seconds",
    "histogram",
    "How long the store took to carry out a batch, by the kind of store.",
    ("store",),
    STORE_BOUNDS,
)
STORE_FAILURES: Final = Metric(
    "stanchion_store_failures_total",
    "counter",
    "Batches that the store did not carry out.",
    ("store",),
)
STORE_UP: Final = Metric(
    "stanchion_store_up", "gauge", "Whether the store could be read for this answer: 1 or 0."
)
TRAIL_RECORDS: Final = Metric(
    "stanchion_trail_records_total", "counter", "Records that were written to the trail."
)
TRAIL_FAILURES: Final = Metric(
    "stanchion_trail_failures_total",
    "counter",
    "Decisions and outcomes that the trail did not take.",
)
TRAIL_WAITING: Final = Metric(
    "stanchion_trail_waiting_bytes",
    "gauge",
    "Bytes of records that are written and not on the disk yet.",
)
UNWRITTEN: Final = Metric(
    "stanchion_unwritten_records",
    "gauge",
    "Outcomes that wait until the trail can be written again.",
)
UNSETTLED: Final = Metric(
    "stanchion_unsettled_batches",
    "gauge",
    "Batches that wait to be sent to the store, because it could not be reached.",
)
EXPERIENCE_WRITTEN: Final = Metric(
    "stanchion_experience_written_total",
    "counter",
    "Outcomes of calls that were written to the persistent tier.",
)
EXPERIENCE_DROPPED: Final = Metric(
    "stanchion_experience_dropped_total",
    "counter",
    "Outcomes of calls that were not kept, because too many waited or the store could not be "
    "written.",
)
TICKETS_WAITING: Final = Metric(
    "stanchion_tickets_waiting", "gauge", "Tickets that wait for a person.", ("tenant",)
)
BUDGET_USED: Final = Metric(
    "stanchion_budget_used_ratio",
    "gauge",
    "How much of a budget is used or reserved: 1 is all of it, and a top-up can make it less than "
    "0; only budgets whose limit is in the policy.",
    ("tenant", "budget", "measure", "per", "whose"),
)
RULE_QUESTIONS: Final = Metric(
    "stanchion_deep_questions_total",
    "counter",
    "Questions to deep rules, by what became of them: `asked`, `kept` (answered before), "
    "`answered`, `failed`, `late`, `dropped`; `full`, `resting` and `unpaid` were not asked.",
    ("guard", "outcome"),
)
PROCESSES: Final = Metric(
    "stanchion_processes", "gauge", "Running shields whose figures are in this answer."
)
UNREADABLE: Final = Metric(
    "stanchion_metrics_unreadable_files",
    "gauge",
    "Files of figures that could not be read for this answer.",
)
INVOCATIONS: Final = Metric(
    "guardrail_invocations_total",
    "counter",
    "How often a guardrail was reached, by what it said: `pass`, `warn`, `escalate` or `block`.",
    ("guardrail_id", "result"),
)
GUARDRAIL_MS: Final = Metric(
    "guardrail_duration_ms",
    "histogram",
    "How long a guardrail took, in milliseconds, under a policy with `durations: true`: in the "
    "first 64 decisions of a process, and then in every seventh.",
    ("guardrail_id",),
    GUARDRAIL_BOUNDS_MS,
)
BLOCKS: Final = Metric(
    "guardrail_blocks_total",
    "counter",
    "How often a guardrail has blocked, by its category; `kernel` is what no guardrail of the "
    "policy has blocked.",
    ("category",),
)
TRIGGERED: Final = Metric(
    "stanchion_guardrail_last_triggered_seconds",
    "gauge",
    "When a guardrail last warned, escalated or blocked, in seconds since 1970.",
    ("guardrail_id",),
    latest=True,
)
BYPASSES: Final = Metric(
    "bypass_requests_total",
    "counter",
    "Requests to let an action past a guardrail: each is counted as `requested`, and once more by "
    "what came of it.",
    ("guardrail_id", "outcome"),
)
SINK_ERRORS: Final = Metric(
    "stanchion_telemetry_errors_total",
    "counter",
    "Errors inside telemetry itself, by where they happened; they do not affect decisions.",
    ("sink",),
)

METRICS: Final = (
    DECISIONS, DECISION_SECONDS, SHADOW, FAILURES, RUNS, RUNS_ENDED, EVENTS, TICKETS, POLICY_LOADS,
    OCCURRENCES, STORE_SECONDS, STORE_FAILURES, STORE_UP, TRAIL_RECORDS, TRAIL_FAILURES,
    TRAIL_WAITING, UNWRITTEN, UNSETTLED, EXPERIENCE_WRITTEN, EXPERIENCE_DROPPED, TICKETS_WAITING,
    BUDGET_USED, RULE_QUESTIONS, INVOCATIONS, GUARDRAIL_MS, BLOCKS, TRIGGERED, BYPASSES, PROCESSES,
    UNREADABLE, SINK_ERRORS,
)  # fmt: skip
"""All of them, in the order in which they are shown."""
BY_NAME: Final = {metric.name: metric for metric in METRICS}


def overflow(metric: Metric, labels: tuple[str, ...]) -> tuple[str, ...]:
    """The labels of a series there is no room for: what comes from outside becomes `other`."""
    return tuple(
        [
            OTHER if name in OPEN else value
            for name, value in zip(metric.labels, labels, strict=True)
        ]
    )
