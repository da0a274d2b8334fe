"""Bearer tokens: drawn here, shown once, kept as a hash."""

import hashlib
import secrets


def draw(prefix: str) -> tuple[str, str]:
    """A new token with a readable prefix, and the SHA-256 (hex) to keep. 256 random bits need no slow hash."""
    token = f"{prefix}_{secrets.token_urlsafe(32)}"
    return token, digest(token)


def digest(token: str) -> str:
    """The SHA-256 (hex) under which a token is looked up."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
