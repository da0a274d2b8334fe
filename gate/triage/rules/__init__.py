"""One file per rule version: rules/refund_completed/v1.py. A version that was active once is never edited."""
