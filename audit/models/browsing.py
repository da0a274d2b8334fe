"""What reading the log comfortably takes: how far the search has come, and the filters that people keep."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class SearchState(models.Model):
    """How far the log was followed for the search, in one row."""

    next_leaf = models.BigIntegerField()
    newest = models.BigIntegerField()  # the number of the last entry that words are found in
    analyzed = models.BigIntegerField()

    class Meta:
        managed = False
        db_table = "audit_searchstate"


class SavedView(models.Model):
    """A filter of the list that somebody gave a name. A shared one is seen by everybody who reads the log."""

    name = models.CharField(max_length=60)
    query = models.TextField()  # as the list's address has it
    is_shared = models.BooleanField()
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="audit_one_view_per_name")]
