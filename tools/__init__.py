"""Programs that keep the repository true to itself; none of them ships in the wheel."""
