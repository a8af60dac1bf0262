"""Most tests of the proxy need the package `mcp`, which comes with the development tools."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("mcp") else ["test_[!w]*.py"]
