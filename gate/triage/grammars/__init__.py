"""Closed grammars of what people and tools write as text: parsed whole, or not at all. Pure; no Django.

Rules and readers may not search text (rules/lint.py); what has to be taken apart is taken apart here.
"""
