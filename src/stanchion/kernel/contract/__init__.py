"""The contract: everything that a guard may declare besides its judgement.

`powers` has all of it on one page, and what asks for it; `values` what guards hand over and what
they are told, and `checking` finds what is declared wrongly.
"""
