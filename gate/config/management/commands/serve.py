import socket
from argparse import ArgumentParser
from typing import Any

import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from audit.nudges import HUB
from evidence import changes
from gate.config import powers, releases

PORTS = {"people": 8000, "agents": 8001}
MANIFEST = "staticfiles.json"  # what collectstatic writes last; pages name their files by it
SECONDS_TO_FINISH = 3  # requests are cut after that, so that a stop does not wait for a browser


class Server(uvicorn.Server):
    """Uvicorn, whose stop ends the open streams: they would go on until they are cut."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop, in order."""
        HUB.close()
        changes.close()
        await super().shutdown(sockets)


class Command(BaseCommand):
    help = "Serve one plane: people (pages) or agents (MCP, REST, intake)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("plane", choices=sorted(PORTS))
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int)

    def handle(self, *args: Any, **options: Any) -> None:
        plane = options["plane"]
        check_can_serve(plane)
        configured = uvicorn.Config(
            f"gate.config.asgi_{plane}:application",
            host=options["host"],
            port=options["port"] or PORTS[plane],
            http="httptools",  # a call over MCP takes half a millisecond less than with the parser in Python
            log_config=None,
            access_log=False,  # ours has the request's id, and no secret of a link
            server_header=False,
            # Forwarded headers are believed only where a proxy stands in front; else any caller could write them.
            proxy_headers=settings.IS_HTTPS,
            timeout_graceful_shutdown=SECONDS_TO_FINISH,
        )
        server = Server(configured)
        server.run()
        if not server.started:
            raise SystemExit(3)  # as uvicorn's own command says it: the supervisor tries again


def check_can_serve(plane: str) -> None:
    """Raises CommandError with a sentence when this process is set up wrongly for the plane."""
    if plane != settings.PROCESS:
        raise CommandError(
            f"COUNTERSEAL_PROCESS is {settings.PROCESS}, but this is the {plane} plane; set it to {plane}."
        )
    if plane == "people" and not settings.SECRET_KEY_CONFIGURED:
        raise CommandError("Set COUNTERSEAL_SECRET_KEY to 50 random characters; without it sessions would not last.")
    try:
        powers.check(plane)
    except (powers.TooPowerful, releases.NotUpgraded) as refusal:
        raise CommandError(str(refusal)) from refusal
    if plane == "people" and not settings.DEBUG and not (settings.STATIC_ROOT / MANIFEST).exists():
        raise CommandError("Run manage.py collectstatic --noinput first; without it no page can be drawn.")
