"""The meter: what the house weighs, in one table that is checked in and may only get lighter."""
