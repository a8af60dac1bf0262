"""Worlds: a suite's environment with texts put in where somebody else can write, made thousands of
times."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import yaml

from stanchion_lab.agentdojo.package import agentdojo

Path = tuple[Any, ...]


class Frozen:
    """A world as it is now, to be had again as often as it is needed; much faster than deep
    copies."""

    def __init__(self, world: Any) -> None:
        self._kept = pickle.dumps(world)

    def fresh(self) -> Any:
        """The world as it was, in a copy of its own."""
        return pickle.loads(self._kept)  # noqa: S301 - these bytes were never anywhere else


class Seen(NamedTuple):
    """What of the foreign texts an honest agent reads: at which places, and by which of its calls
    first."""

    vectors: tuple[str, ...]
    after: int


class Located(NamedTuple):
    """Where a text is in the environment, and where in the file that it is made from."""

    path: Path
    source: Path


class Worlds:
    """The environments of one suite. Its file is parsed once for each text, not once for each
    case."""

    def __init__(self, suite: Any) -> None:
        self.suite = suite
        self._file: str = agentdojo().read_file(suite.name, "environment.yaml", suite.data_path)
        self.defaults: dict[str, str] = suite.get_injection_vector_defaults()
        self._parsed = lru_cache(maxsize=4)(self._read_everywhere)
        self._model = suite.environment_type
        self._raw = self._read(self.defaults)
        self._plain = Frozen(self._model.model_validate(self._raw))
        marked = self._read({name: _mark(name) for name in self.defaults})
        self._marked = self._model.model_validate(marked)
        self._places = self._found(marked)
        self._settable = self._set({name: _mark(name) for name in self.defaults}) == self._marked

    def make(self, texts: Mapping[str, str]) -> Any:
        """The environment with these texts at these places, as AgentDojo itself would make it."""
        return self._set(texts) if self._settable else self.anew(texts)

    def anew(self, texts: Mapping[str, str]) -> Any:
        """The same, from the beginning: slow, and right whatever the file is like."""
        return self._model.model_validate(self._read({**self.defaults, **texts}))

    def seen(self, task: Any) -> Seen | None:
        """What the honest calls of a task read of foreign texts; `None` where they read nothing of
        them."""
        package = agentdojo()
        world = task.init_environment(Frozen(self._marked).fresh())
        runtime = package.runtime(self.suite.tools)
        vectors: set[str] = set()
        first = -1
        for at, call in enumerate(task.ground_truth(world)):
            result, _ = runtime.run_function(world, call.function, call.args)
            text = package.text(result)
            found = [name for name in self.defaults if _mark(name) in text]
            vectors.update(found)
            first = at if found and first < 0 else first
        return (
            Seen(tuple([name for name in self.defaults if name in vectors]), first)
            if vectors
            else None
        )

    def _set(self, texts: Mapping[str, str]) -> Any:
        """A copy of the environment that is there already, in which what holds the texts is made
        anew."""
        world = self._plain.fresh()
        made: dict[Path, dict[str, Any]] = {}
        for name, text in texts.items():
            for place in self._places[name]:
                holder = made.setdefault(place.path[:-1], dict(_at(self._raw, place.source[:-1])))
                holder[place.path[-1]] = _at(self._parsed(text), place.source)
        for path, fields in made.items():
            _put(world, path, type(_at(world, path)).model_validate(fields))
        return world

    def _found(self, marked: Any) -> dict[str, list[Located]]:
        """Where each text is. One that shares its place with another is not found, and so never set
        by itself."""
        sources = {text: path for path, text in _texts(marked)}
        found: dict[str, list[Located]] = {name: [] for name in self.defaults}
        for path, text in _texts(self._marked):
            names = [name for name in self.defaults if _mark(name) in text]
            if (
                len(names) == 1
                and text in sources
                and hasattr(_at(self._marked, path[:-1]), "model_fields_set")
            ):
                found[names[0]].append(Located(path, sources[text]))
        return found

    def _read_everywhere(self, text: str) -> Any:
        return self._read(dict.fromkeys(self.defaults, text))

    def _read(self, texts: Mapping[str, Any]) -> Any:
        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        return yaml.load(self._file.format(**texts), Loader=loader)  # noqa: S506 - either loader is a safe one


def _mark(name: str) -> str:
    return f"<mark-{name}-mark>"


def _texts(data: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    match data:
        case str():
            yield path, data
        case dict():
            for key, value in data.items():
                yield from _texts(value, (*path, key))
        case list():
            for at, value in enumerate(data):
                yield from _texts(value, (*path, at))
        case _ if hasattr(data, "model_fields_set"):
            for name, value in vars(data).items():
                yield from _texts(value, (*path, name))


def _at(data: Any, path: Path) -> Any:
    for step in path:
        data = data[step] if isinstance(data, dict | list) else getattr(data, step)
    return data


def _put(data: Any, path: Path, value: Any) -> None:
    inner = _at(data, path[:-1])
    if isinstance(inner, dict | list):
        inner[path[-1]] = value
    else:
        setattr(inner, path[-1], value)
