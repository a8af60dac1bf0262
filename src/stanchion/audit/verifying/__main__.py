"""`python -m stanchion.audit.verifying FOLDER`; or, of a copy of this folder, `python verifying
FOLDER`."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def _package() -> str:
    """The name of the package this file is in; where the folder itself is run, it is made one
    first."""
    if __package__:
        return __package__
    here = Path(__file__).resolve().parent
    spec = spec_from_file_location(
        "verifying", here / "__init__.py", submodule_search_locations=[str(here)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"`{here}` is not a package: copy the whole folder")
    sys.modules["verifying"] = package = module_from_spec(spec)
    spec.loader.exec_module(package)
    return "verifying"


if __name__ == "__main__":
    sys.exit(import_module(f"{_package()}.command").main())
