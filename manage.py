#!/usr/bin/env python3
"""Counterseal's command line."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gate.config.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import Error

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as refusal:
        sys.exit(str(refusal))
    except Error as error:
        from gate.config import failures

        sentence = failures.said_of(error)
        if sentence is None or "--traceback" in sys.argv:
            raise
        sys.exit(f"CommandError: {sentence}")


if __name__ == "__main__":
    main()
