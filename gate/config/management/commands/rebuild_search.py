from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit import search_following
from gate.config import powers


class Command(BaseCommand):
    help = "Make the search's rows anew from the sealed entries. The worker does it, from now on."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            powers.check("worker")
        except powers.TooPowerful as refusal:
            raise CommandError(str(refusal)) from refusal
        search_following.begin_again()
        self.stdout.write("The worker follows the log from its first leaf. Until it is through, old rows serve.")
