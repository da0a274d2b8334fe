"""What people type to sign in and to set passwords."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.core.exceptions import ValidationError

from gate.people import guessing
from gate.people.models import Change, Person

LONGEST_REASON = 2_000


class SignInForm(AuthenticationForm):
    """A name and a password; each pair that is looked at costs a try."""

    def clean(self) -> dict[str, Any]:
        """Raises ValidationError with the tries that are left, or with how long to wait."""
        name, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if not name or not password:
            raise ValidationError("Type your name and your password.")
        assert self.request is not None  # the view hands it in
        address = self.request.META.get("REMOTE_ADDR", "")
        try:
            left = guessing.take_sign_in(name, address)
        except guessing.TooManyTries as refusal:
            raise ValidationError(str(refusal), code="waits") from refusal
        try:
            cleaned = super().clean()
        except ValidationError as error:
            raise ValidationError(f"Name or password is wrong. {guessing.left_in_words(left)}") from error
        guessing.forget_sign_in(name, address)
        return cleaned

    @property
    def waits(self) -> bool:
        """Whether nothing was looked at, because the tries were used up."""
        return self.has_error("__all__", code="waits")


def _typed_again(user: Any, typed: str) -> str:
    # Each costs a try, as it does for an approval.
    try:
        left = guessing.take_again(user.username)
    except guessing.TooManyTries as refusal:
        raise ValidationError(str(refusal)) from refusal
    if not user.check_password(typed):
        raise ValidationError(f"That is not your password. {guessing.left_in_words(left)}")
    guessing.forget_again(user.username)
    return typed


class OwnPasswordForm(PasswordChangeForm):
    """A new password, and the old one."""

    def clean_old_password(self) -> str:
        """Raises ValidationError with the tries that are left, or with how long to wait."""
        return _typed_again(self.user, str(self.cleaned_data["old_password"]))


class PasswordForm(forms.Form):
    """One's own password again, before something that whoever finds an open browser must not do."""

    own_password = forms.CharField(strip=False, error_messages={"required": "Type your password."})

    def __init__(self, user: Person, data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
        self.user = user

    def clean_own_password(self) -> str:
        """Raises ValidationError with the tries that are left, or with how long to wait."""
        return _typed_again(self.user, self.cleaned_data["own_password"])


class AddressForm(PasswordForm):
    """One's own e-mail address, or none; links that set a password go there."""

    email = forms.EmailField(
        max_length=254, required=False, error_messages={"invalid": "Give an address like ada@example.org."}
    )

    def __init__(self, user: Person, data: Any = None) -> None:
        super().__init__(user, data, initial={"email": user.email})


class NewKeyForm(PasswordForm):
    """What a new key is called, and one's own password."""

    name = forms.CharField(max_length=60, error_messages={"required": "Give the key a name, like desk or phone."})


class AssertionForm(forms.Form):
    """What a key answered, as the browser wrote it down."""

    assertion = forms.CharField(
        max_length=20_000, strip=False, error_messages={"required": "A key answers only where JavaScript runs."}
    )


class ChangeForm(forms.Form):
    """What should become of somebody, and why."""

    act = forms.ChoiceField(choices=Change.Act.choices)
    role = forms.ChoiceField(choices=Person.Role.choices, required=False)
    reason = forms.CharField(
        max_length=LONGEST_REASON, error_messages={"required": "Write one sentence that the other admin can check."}
    )

    def clean(self) -> dict[str, Any]:
        """A change of role names the role; the others name none."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("act") == Change.Act.ROLE and not cleaned.get("role"):
            self.add_error("role", "Choose a role.")
        if cleaned.get("act") != Change.Act.ROLE:
            cleaned["role"] = ""
        return cleaned


class InvitationForm(forms.Form):
    """Who is invited, and for which role."""

    username = forms.CharField(max_length=150, error_messages={"required": "Give the name they sign in with."})
    full_name = forms.CharField(max_length=120, error_messages={"required": "Give their full name."})
    email = forms.EmailField(
        max_length=254, required=False, error_messages={"invalid": "Give an address like ada@example.org, or none."}
    )
    role = forms.ChoiceField(choices=Person.Role.choices, error_messages={"required": "Choose a role."})
