"""Files that a text writes: what is known of what they hold, by their paths."""

from __future__ import annotations


class Files(dict[str, str]):
    """What files hold; `./x` and `x` are the same one."""

    def __getitem__(self, path: str) -> str:
        return super().__getitem__(path.removeprefix("./"))

    def __setitem__(self, path: str, text: str) -> None:
        super().__setitem__(path.removeprefix("./"), text)

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and super().__contains__(path.removeprefix("./"))

    def get(self, path: str, default: str | None = None) -> str | None:  # type: ignore[override]  # no other default
        """What a file holds."""
        return super().get(path.removeprefix("./"), default)
