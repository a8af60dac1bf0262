"""The `holdfast` command: thin commands over the public face."""
