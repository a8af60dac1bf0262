"""Whose code a file is: what the hook tells frames by."""

from __future__ import annotations

import os

import pytest

import stanchion
from stanchion.runtime.coverage.sightings import (
    DRIVING,
    IMPORTING,
    OURS,
    PROGRAM,
    STANDARD,
    THROUGH,
    kind_of,
)

HOME = os.path.dirname(os.path.abspath(stanchion.__file__))


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        (f"{HOME}/stores/sqlite/store.py", OURS),
        (f"{HOME}/runtime/calling/pace.py", OURS),
        (f"{HOME}/hosts/http/leaving.py", OURS),
        (f"{HOME}/hosts/clients/guarded.py", OURS),
        (f"{HOME}/hosts/langchain.py", THROUGH),
        (f"{HOME}/hosts/contract/host.py", THROUGH),
        (f"{HOME}/runtime/calling/bound.py", THROUGH),
        (f"{HOME}/runtime/driving/sync.py", DRIVING),
        (os.__file__, STANDARD),
        ("<frozen importlib._bootstrap>", IMPORTING),
        ("<frozen runpy>", STANDARD),
        ("<string>", PROGRAM),
        ("/srv/agent/app.py", PROGRAM),
        ("/srv/env/lib/python3.11/site-packages/httpx/_client.py", "httpx"),
        ("/srv/env/lib/python3.11/site-packages/six.py", "six"),
        ("/srv/env/lib/python3.11/site-packages/google/genai/client.py", "google.genai"),
        ("/usr/lib/python3/dist-packages/requests/api.py", "requests"),
    ],
)
def test_files_are_told_apart(file: str, kind: str) -> None:
    assert kind_of(file) == kind
