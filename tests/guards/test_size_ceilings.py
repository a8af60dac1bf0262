"""Ceilings of sizes: a limit above what content may have under any policy is refused when the
policy loads."""

from __future__ import annotations

import pytest

from stanchion.kernel.sizes import CEILING
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion.runtime.values import containers, read_value


@pytest.mark.parametrize(
    ("option", "ceiling"),
    [
        ("max_depth", read_value.MAX_DEPTH),
        ("max_values", containers.MAX_VALUES),
        ("max_chars", CEILING),
    ],
)
def test_a_limit_that_would_never_act_is_refused(option: str, ceiling: int) -> None:
    load_policy({"name": "one", "guards": [{"use": "size_limits", option: ceiling}]})
    with pytest.raises(
        PolicyError, match=f"{option}: `{ceiling + 1}` is out of bounds: .* at most {ceiling}"
    ):
        load_policy({"name": "one", "guards": [{"use": "size_limits", option: ceiling + 1}]})
