"""Rules that approvals propose: what people have said yes to again and again, found in a trail."""
