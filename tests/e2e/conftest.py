"""What the tests of installed wheels share."""

from pathlib import Path

import pytest

from tests.e2e.built import built_in


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Both wheels, built once."""
    return built_in(tmp_path_factory.mktemp("dist"))
