"""`python -m stanchion` is the `stanchion` command."""

from stanchion.cli.process import process

if __name__ == "__main__":
    process()
