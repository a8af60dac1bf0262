"""The client's half of a broker: what it says, how that is framed, and the shield and runs that
work through it."""
