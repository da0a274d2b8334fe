"""The product's own record as a source of metrics: how long decisions take, and what calls that came to nothing took.

It is for people. What it reads tells how incidents ended, so its credential is held by the reads worker alone, and its
metrics are of a visibility that no agent's call is answered with.
"""
