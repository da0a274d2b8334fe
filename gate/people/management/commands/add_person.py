import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from gate.errors import NotAllowed
from gate.people import actions
from gate.people.models import Person
from gate.people.operator import OperatorCommand, actor

ROLES = {label: value for value, label in Person.Role.choices}


class Command(OperatorCommand):
    help = "Add a person who can sign in. The password is drawn and shown once, unless it comes on standard input."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="what the person types to sign in")
        parser.add_argument("--role", required=True, choices=sorted(ROLES))
        parser.add_argument("--full-name", default="")
        parser.add_argument("--password-stdin", action="store_true", help="read the password from standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        given = sys.stdin.readline().rstrip("\r\n") if options["password_stdin"] else None
        password = actions.draw_password() if given is None else given
        try:
            person = actions.add_person(
                options["name"], role=ROLES[options["role"]], full_name=options["full_name"], password=password,
                by=actor(),
            )  # fmt: skip
        except NotAllowed as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"{person.username} was added as {person.get_role_display()}.")
        if given is None:
            self.stdout.write(f"Password, shown only now: {password}")
