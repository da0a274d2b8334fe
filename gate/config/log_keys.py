"""The public keys that the log is verified with: from our configuration, never from the log's own database."""

from django.conf import settings

from audit import notes
from gate.config import database


def public_keys() -> list[str]:
    """What COUNTERSEAL_LOG_PUBLIC_KEYS names, or the key of the embedded installation; empty when there is neither."""
    stored = database.stored_secret("seal_key")
    return list(settings.LOG_PUBLIC_KEYS) or ([str(notes.SigningKey.parse(stored).public)] if stored else [])
