"""How does each fault spoil an answer? One file a family: its functions, and the rows that name them.

Each function takes the value that it changes and a `Blow`, and returns the same value where there is nothing
to spoil. The rows become one registry in `lab/faults.py`.
"""
