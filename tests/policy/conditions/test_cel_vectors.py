"""The public CEL vectors: all that fall inside the subset pass, and what is outside is known by
construct."""

import re
from collections import Counter

import pytest

from stanchion.policy.conditions import ConditionError, EvaluationError, compile_expression
from tests.policy.conditions.vectors import FILE, Vector, names_of, outside, read, same
from tools.pages.conditions import OUTSIDE

INSIDE = 949
"""How many vectors are inside; the number may grow and never shrink."""

pytestmark = pytest.mark.skipif(
    not FILE.exists(), reason=f"the CEL vectors are not beside the checkout: {FILE}"
)


@pytest.fixture(scope="module")
def vectors() -> list[Vector]:
    return list(read())


def fault(vector: Vector) -> str | None:
    """How a vector fails; `None` where it passes."""
    names, view = names_of(vector)
    try:
        value = compile_expression(vector.expr, names).evaluate(view)
    except (ConditionError, EvaluationError) as error:
        return None if vector.error else f"{vector.id}: `{vector.expr}` raises {error!r}"
    if vector.error:
        return f"{vector.id}: `{vector.expr}` is {value!r} and should be an error"
    return (
        None
        if same(value, vector.value)
        else f"{vector.id}: `{vector.expr}` is {value!r}, not {vector.value!r}"
    )


def test_every_vector_inside_passes(vectors: list[Vector]) -> None:
    inside = [vector for vector in vectors if outside(vector) is None]
    faults = [said for said in map(fault, inside) if said is not None]
    assert not faults, "\n" + "\n".join(faults)
    assert len(inside) >= INSIDE


def test_what_is_outside_is_known_by_construct(
    vectors: list[Vector], capsys: pytest.CaptureFixture[str]
) -> None:
    counts = Counter(outside(vector) or "inside" for vector in vectors)
    with capsys.disabled():
        print(
            "\n" + "\n".join(f"{count:6,} {construct}" for construct, count in counts.most_common())
        )
    assert counts["inside"] >= INSIDE
    said = {int(count) for count in re.findall(r"\| (\d+) \|", OUTSIDE)}
    assert said == set(counts.values()) - {counts["inside"]}, (
        "write the counts into the page of conditions"
    )
    assert f"Of the {len(vectors):,} public" in OUTSIDE
    assert f"CEL {counts['inside']} fall" in OUTSIDE


def test_vectors_outside_are_refused_or_differ_only_as_documented(vectors: list[Vector]) -> None:
    """Whatever is outside is refused, or right all the same; a missing key alone gives null, which
    counts as false."""
    for vector in vectors:
        construct = outside(vector)
        if construct is None or construct == "the types that a checker deduces":
            continue
        names, view = names_of(vector._replace(bindings={}))
        try:
            value = compile_expression(vector.expr, names).evaluate(view)
        except (ConditionError, EvaluationError):
            continue
        if construct == "an error for a missing key or element":
            assert value is None or value is False, vector.id
        else:
            assert same(value, vector.value), vector.id


def test_a_wrong_value_is_seen() -> None:
    vector = Vector("x", "1 + 1", {}, 3, False, {})
    assert fault(vector) is not None
    assert fault(vector._replace(value=2)) is None
    assert fault(vector._replace(error=True)) is not None
    assert fault(vector._replace(expr="1 / 0", error=True)) is None
