"""The proxy's tests need the package `mcp`; where it is not installed they do not run."""

import pytest

pytest.importorskip("mcp", reason="the proxy needs `stanchion[mcp]`")
