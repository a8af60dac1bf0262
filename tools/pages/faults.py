PATH = "docs/reference/faults.md"
def render() -> str:
    return "# Faults\n"
