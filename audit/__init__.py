"""What happened: the append-only log, identities of agents, outbox and second hands."""
