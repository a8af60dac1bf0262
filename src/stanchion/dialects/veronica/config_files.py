"""Files of a configuration, in JSON or YAML: what they hold as plain data, or in one line why they
cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stanchion.dialects.errors import DialectError
from stanchion.policy.composed import read_text
from stanchion.policy.load import file_text


def file_of(path: Any) -> Path:
    """The file that a path names."""
    if not isinstance(path, str | Path) or not str(path):
        raise DialectError(f"`path` is `{path!r}`: give the path of a file")
    return Path(path)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for name, value in pairs:
        if name in seen:
            raise ValueError(
                f"`{name}` appears twice in one mapping, so that one of the two would be ignored"
            )
        seen[name] = value
    return seen


def parsed(file: Path, form: str) -> Any:
    """What a file holds, as plain data; `DialectError` where it cannot be read in this form."""
    try:
        text = file_text(file)
    except (OSError, UnicodeDecodeError) as error:
        raise DialectError(f"`{file}` cannot be read: {error}") from None
    if form == "JSON":
        import json

        try:
            return json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_unique)
        except RecursionError:
            raise DialectError(f"`{file}` is nested too deeply: make it flatter") from None
        except ValueError as error:
            raise DialectError(f"`{file}` cannot be read as JSON: {error}") from None
    import yaml

    faults = read_text(text, str(file)).faults
    if faults:
        raise DialectError(f"`{file}` cannot be read as YAML: {' '.join(str(faults[0]).split())}")
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DialectError(
            f"`{file}` cannot be read as YAML: {' '.join(str(error).split())}"
        ) from None
    if data is None:
        # It may have been cut off, and every feature would be off.
        how = "name the features, such as `safe_mode: {enabled: true}`, or write `{}` for none"
        raise DialectError(f"`{file}` is empty: {how}")
    return data
