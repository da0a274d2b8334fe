"""Signing in with a password; rights follow from the person's role alone."""

from typing import Any

from django.contrib.auth.backends import ModelBackend

from gate.people import permissions


class RoleBackend(ModelBackend):
    """Django's password check, with the permission matrix in place of groups and superusers."""

    def has_perm(self, user_obj: Any, perm: str, obj: Any = None) -> bool:
        """Whether an active person's role may do the act. An act that the matrix does not know is nobody's."""
        return bool(user_obj.is_active) and perm in permissions.MATRIX and permissions.allows(user_obj.role, perm)

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        """Every act that the person's role may do."""
        return {act for act in permissions.MATRIX if self.has_perm(user_obj, act)}

    def has_module_perms(self, user_obj: Any, app_label: str) -> bool:
        """Whether the person's role may do any act of an app."""
        return any(act.startswith(f"{app_label}.") for act in self.get_all_permissions(user_obj))
