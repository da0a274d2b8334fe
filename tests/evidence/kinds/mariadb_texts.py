"""Texts for MariaDB: attacks, one a line, of which none may be served, and ordinary reads, which all must be."""

from pathlib import Path

_DATA = Path(__file__).parents[2] / "data" / "attacks"
ATTACKS = (_DATA / "mariadb_attacks.sql").read_text().splitlines()
ORDINARY = (_DATA / "mariadb_reads.sql").read_text().removesuffix(";\n").split(";\n")
