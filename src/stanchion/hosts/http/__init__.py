"""HTTP: clients whose every request is judged before it leaves, and which connect only to what was
judged."""
