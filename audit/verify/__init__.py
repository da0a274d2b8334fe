"""The log's verifier. It needs no Django and no database, and shares nothing with the writer but the canonical form."""
