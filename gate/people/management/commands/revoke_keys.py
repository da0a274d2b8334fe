from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from gate.people import keys
from gate.people.models import Person
from gate.people.operator import OperatorCommand, actor


class Command(OperatorCommand):
    help = (
        "Revoke every passkey of a person who lost them and whom no admin can help; their password signs them in then."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="what the person types to sign in")

    def handle(self, *args: Any, **options: Any) -> None:
        person = Person.objects.filter(username=options["name"]).first()
        if person is None:
            raise CommandError(f"There is nobody {options['name']}.")
        gone = keys.revoke_all(person, actor=actor())
        self.stdout.write(f"Revoked {len(gone)} keys of {person.username}.")
