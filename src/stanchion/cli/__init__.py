"""The `stanchion` command: thin commands over the public face."""
