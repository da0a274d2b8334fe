"""What may pass: narrow questions are answered, and code, not a model, makes the answers a verdict."""
