"""What a migration may do while processes of the release before work on the same database."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import connection, migrations
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import Field
from django.db.models.fields import NOT_PROVIDED

# These touch no table, or one that the older code does not know.
ALWAYS = (
    migrations.CreateModel, migrations.AlterModelOptions, migrations.AlterModelManagers, migrations.RemoveIndex,
    AddIndexConcurrently,
)  # fmt: skip


def faults(migration: migrations.Migration, before: ProjectState) -> Iterator[str]:
    """A line for each operation that could break older code, or make it wait. SQL and Python are never judged."""
    state = before.clone()
    for operation in migration.operations:
        why = _fault(operation, state, migration.app_label)
        if why:
            yield f"{migration.app_label}.{migration.name}: {operation.describe()}: {why}"
        operation.state_forwards(migration.app_label, state)


def _fault(operation: Operation, state: ProjectState, app: str) -> str:
    if isinstance(operation, ALWAYS):
        return ""
    if isinstance(operation, migrations.AddField):
        return _added(operation.field)
    if isinstance(operation, migrations.AlterField):
        old = state.models[app, operation.model_name_lower].fields[operation.name]
        return _altered(old, operation.field)
    return "older code does not expect it; add, and take away only when no process needs it"


def _added(field: Field) -> str:
    if field.unique:
        return "rows of older code would collide"
    if field.null or field.db_default is not NOT_PROVIDED or field.many_to_many:
        return ""
    return "older code does not fill it: make it null, or give it a db_default"


def _altered(old: Field, new: Field) -> str:
    if old.null and not new.null:
        return "older code may write null"
    if new.unique and not old.unique:
        return "rows of older code would collide"
    grows = (new.max_length or 0) > (old.max_length or 0) and old.get_internal_type() == new.get_internal_type()
    return "" if grows or _type(old) == _type(new) else "the type of the column changes"


def _type(field: Field) -> str | None:
    field.set_attributes_from_name(field.name or "field")
    return field.db_type(connection)
