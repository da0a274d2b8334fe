from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from audit import agents
from gate.people.models import Person
from gate.people.operator import OperatorCommand, actor


class Command(OperatorCommand):
    help = "Issue a token for an agent. Its owner answers for it, and may not approve what it proposes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the agent, made when it is new")
        parser.add_argument("--owner", required=True, help="the person who answers for it")
        parser.add_argument("--scopes", required=True, help=f"some of {','.join(agents.SCOPES)}")
        parser.add_argument("--label", default="command line", help="what the token is for")

    def handle(self, *args: Any, **options: Any) -> None:
        owner = Person.objects.filter(username=options["owner"], is_active=True).first()
        if owner is None:
            raise CommandError(f"There is no person {options['owner']}; add them first with manage.py add_person.")
        scopes = [scope.strip() for scope in options["scopes"].split(",") if scope.strip()]
        try:
            token = agents.issue_token(options["name"], owner=owner, scopes=scopes, label=options["label"], by=actor())
        except ValueError as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"Token of {options['name']}, shown only now: {token}")
