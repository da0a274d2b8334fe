"""The drill: every tampering that we know of, done to a copy of the log, to see whether the verifier finds it."""
