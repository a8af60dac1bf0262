"""What commands answer with `--json`: every field of every view, from the structs that are
encoded."""

import inspect
from typing import Any, Final

import msgspec
from msgspec import inspect as kinds

from stanchion.approvals.bypass import Requested, Review
from stanchion.ops.views.budgets import BudgetView, HeldPart, HeldView
from stanchion.ops.views.coverage import CoverageView, CoveredRunView, EscapedView
from stanchion.ops.views.explain import CounterView, Explanation, FindingReason
from stanchion.ops.views.past import PastGroup, PastReport
from stanchion.ops.views.people import AllowanceView, OperatorView, TicketView
from stanchion.ops.views.records import DecisionView, RecordView, ShadowView, WouldView
from stanchion.ops.views.remedies import ConditionPart, CureLine, Cures
from stanchion.ops.views.runs import BurnView, ManifestView, RunDetailView, RunView, WrongView
from stanchion.ops.views.standing import BreakerView, StateView, ToolView
from stanchion.ops.views.stored import (
    CounterCell,
    HoldView,
    OutcomesCell,
    RecordCell,
    RunCell,
    ShieldCell,
    TookView,
)
from stanchion.ops.views.verdicts import VerdictView
from stanchion.ops.views.where import ProjectView, StatePlace
from stanchion.telemetry.guardrails import GuardrailState
from tools.view_meanings import MEANINGS

PATH = "docs/reference/views.md"

INTRODUCTION = """\
# What commands answer as JSON

With `--json` a command answers with one line of JSON for each thing that it shows. Fields may be added; those that are
here stay. Moments are in milliseconds since 1970, and a name that ends with `_ms`, `_s` or `_bytes` is in that unit.
Amounts are whole numbers in the unit that `measure` names: 4,900,000 `cost_microusd` are $4.90. Secrets in names and
in content are hidden, as they are for people. The other verbs of `stanchion audit` answer with the records
themselves.
"""

VIEWS: Final[dict[str, tuple[type, ...]]] = {
    "stanchion runs": (RunView,),
    "stanchion runs show": (RunDetailView, BurnView, RecordView),
    "stanchion runs verify": (ManifestView, WrongView),
    "stanchion audit coverage": (CoverageView, EscapedView, CoveredRunView),
    "stanchion report": (PastReport, PastGroup),
    "stanchion explain": (DecisionView,),
    "stanchion explain ID": (
        Explanation,
        FindingReason,
        ConditionPart,
        CounterView,
        VerdictView,
        Cures,
        CureLine,
    ),
    "stanchion tickets": (TicketView, Requested, Review),
    "stanchion budget show` and `top": (BudgetView,),
    "stanchion budget holds": (HeldView, HeldPart),
    "stanchion tools": (ToolView, BreakerView),
    "stanchion state": (
        ShieldCell,
        StateView,
        RunCell,
        CounterCell,
        OutcomesCell,
        RecordCell,
        HoldView,
        TookView,
    ),
    "stanchion state --where": (StatePlace,),
    "stanchion state --projects": (ProjectView,),
    "stanchion metrics guardrails": (GuardrailState,),
    "stanchion operators": (OperatorView,),
    "stanchion secrets allowed": (AllowanceView,),
    "stanchion audit shadow": (ShadowView, WouldView),
}
"""Every command that answers with views, and those that it answers with, outer before inner."""

KNOWN: Final = frozenset(view for views in VIEWS.values() for view in views)


def render() -> str:
    """Render a table for each view."""
    parts = [INTRODUCTION]
    for command, views in VIEWS.items():
        parts.append(f"\n## `{command}`\n")
        parts += [_table(view) for view in views]
    return "".join(parts)


def _table(view: type) -> str:
    info = kinds.type_info(view)
    assert isinstance(info, kinds.StructType)
    words = " ".join(inspect.cleandoc(view.__doc__ or "").split())
    lines = [f"\n### {view.__name__}\n", f"{words}\n", "| field | is | means |", "|---|---|---|"]
    if info.tag_field is not None:
        lines.append(f"| `{info.tag_field}` | text | `{info.tag}` |")
    lines += [
        f"| `{field.encode_name}` | {_kind(field.type)} | {_meaning(view, field.name)} |"
        for field in info.fields
    ]
    return "\n".join(lines) + "\n"


def _meaning(view: type, name: str) -> str:
    owners = [each.__name__ for each in view.__mro__]
    named = next(
        (MEANINGS[f"{owner}.{name}"] for owner in owners if f"{owner}.{name}" in MEANINGS), None
    )
    return MEANINGS[name] if named is None else named


def _kind(kind: kinds.Type) -> str:
    """What a field is in JSON."""
    match kind:
        case kinds.StrType() | kinds.EnumType():
            return "text"
        case kinds.IntType() | kinds.FloatType():
            return "number"
        case kinds.BoolType():
            return "true or false"
        case kinds.NoneType():
            return "null"
        case kinds.ListType() | kinds.VarTupleType():
            return f"list of {_kind(kind.item_type)}"
        case kinds.TupleType():
            return "list"
        case kinds.StructType():
            return _named(kind.cls)
        case kinds.UnionType():
            some = [_kind(each) for each in kind.types if not _is_unset(each)]
            return " or ".join(some) + (", or left out" if len(some) < len(kind.types) else "")
        case kinds.AnyType():
            return "anything"
    return "object"


def _named(view: Any) -> str:
    return f"[{view.__name__}](#{view.__name__.lower()})" if view in KNOWN else "object"


def _is_unset(kind: kinds.Type) -> bool:
    return isinstance(kind, kinds.CustomType) and kind.cls is msgspec.UnsetType
