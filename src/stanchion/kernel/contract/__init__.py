"""The contract: everything that a guard may declare besides its judgement. One protocol for each
power, and who asks.

A guard speaks one of the four protocols of `stanchion.kernel.guard`. What else it can do it says by
having the members of a power: there is nothing to inherit and nothing to register. The engine, the
policy and the runtime ask for powers, never for a guard by its class, so that a foreign guard can
do whatever a shipped one can.

`standing` says where a guard stands and what it answers, `content` how it treats texts, `counting`
what it keeps in the store, `asking` what it asks the world, `learning` what it gets to know when it
is put in force, `outward` what the runtime does in its name, `linting` what it says of its own
entry. `powers` has what asks for each, `values` what guards hand over, and `checking` finds what is
declared wrongly.
"""
