"""Commands that run behind walls: no files but their own, no network, bounded in everything."""
