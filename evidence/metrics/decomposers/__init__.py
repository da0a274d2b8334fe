"""Ways to take a number apart: a closed set, each with an invariant that is checked on every answer.

Each is a function from exact rows to components. A component is a part of an account and says nothing of causes.
"""
