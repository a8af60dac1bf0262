"""What a command cannot work with."""

from __future__ import annotations


class BadInput(Exception):
    """What was typed or handed in cannot be used; each line says what is wrong and what to do."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class AsBadInput:
    """Around work: an exception of these kinds is bad input, in its own words."""

    def __init__(self, *kinds: type[Exception]) -> None:
        self._kinds = kinds

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, self._kinds):
            raise BadInput(str(error)) from None


def in_words(error: OSError | ValueError) -> str:
    """What the system says of an error, without its number; what Python says of a name that can be
    none."""
    return error.strerror.lower() if isinstance(error, OSError) and error.strerror else str(error)
