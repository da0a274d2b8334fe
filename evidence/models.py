"""The proofs that sources' credentials are read-only. Sources and tools themselves are definitions (audit.twohands)."""

from django.db import models


class Certificate(models.Model):
    """What was proven about a source's reader credential, at one moment. Never changed; a newer one supersedes it."""

    id = models.UUIDField(primary_key=True)
    source = models.SlugField(max_length=80)
    source_version = models.PositiveIntegerField()
    role = models.TextField()
    address = models.TextField()  # the credential without its password: what a reading process must hold as well
    server = models.TextField()  # system identifier and database oid: where it was proven
    facts = models.JSONField()  # [{"fact", "holds", "seen", "mend"}]
    holds = models.BooleanField()
    digest = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["source", "-at"], name="evidence_latest_certificate")]
