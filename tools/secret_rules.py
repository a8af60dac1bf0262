"""`python -m tools.secret_rules`: write the index of the secrets guard from its rule files."""

from pathlib import Path

from stanchion.guards.secrets.index import FILE, index_of

FOLDER = Path(__file__).resolve().parents[1] / "src/stanchion/guards/secrets"


def files() -> dict[str, str]:
    """The rule files, by their names."""
    return {file.name: file.read_text(encoding="utf-8") for file in (FOLDER / "rules").glob("*.toml")}


if __name__ == "__main__":
    (FOLDER / FILE).write_bytes(index_of(files()))
