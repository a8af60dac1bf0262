"""Names are read as they are, and between their underscores."""

from random import Random
from uuid import UUID

import pytest

from stanchion.guards.secrets import Secrets

TOKEN = "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"


@pytest.mark.parametrize(
    "name", ["{}", "deploy_{}", "{}_now", "a_b_c_{}_d_e", "tool-{}", "mcp__x__{}__y"]
)
def test_a_token_is_found_wherever_it_stands_in_a_name(name: str) -> None:
    (span,) = Secrets().in_name(name.format(TOKEN))
    assert (name.format(TOKEN)[span.start : span.end], span.kind) == (TOKEN, "github-pat")


def test_two_tokens_are_two() -> None:
    name = f"{TOKEN}_{TOKEN[:-1]}A"
    assert [name[span.start : span.end] for span in Secrets().in_name(name)] == [
        TOKEN,
        f"{TOKEN[:-1]}A",
    ]


def test_what_the_policy_allows_is_none() -> None:
    assert Secrets(allow=(TOKEN,)).in_name(TOKEN) == []


def test_ids_are_no_secrets() -> None:
    guard, drawn = Secrets(), Random(54)
    names = [
        f"run-{drawn.randbytes(8).hex()}.{drawn.randbytes(4).hex()}.{number}"
        for number in range(200)
    ]
    names += [str(UUID(bytes=drawn.randbytes(16), version=4)) for _ in range(200)] + [
        "a" * 600,
        "_" * 600,
        "read_file",
        "implementer-1",
        "",
    ]
    assert [name for name in names if guard.in_name(name)] == []
