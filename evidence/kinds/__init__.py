"""The kinds of source there are. A new one is a module, one import and one line here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from audit.models import Definition
from evidence.kinds.cloudwatch.kind import CloudWatch
from evidence.kinds.elasticsearch.kind import Elasticsearch
from evidence.kinds.http.kind import Http
from evidence.kinds.kind import SourceKind
from evidence.kinds.kubernetes.kind import Kubernetes
from evidence.kinds.loki.kind import LOKI
from evidence.kinds.mariadb import MariaDB
from evidence.kinds.postgresql import PostgreSQL
from evidence.kinds.prometheus.kind import PROMETHEUS

KINDS: Mapping[str, SourceKind] = {
    kind.name: kind
    for kind in (
        PostgreSQL(),
        MariaDB(),
        Http(),
        PROMETHEUS,
        LOKI,
        Elasticsearch(),
        Kubernetes(),
        CloudWatch(),
    )
}  # fmt: skip


def sentences(source: Definition, codes: Iterable[str]) -> list[str]:
    """What the codes of an incomplete answer mean, a sentence each, by the table of the source's kind."""
    table = of(source).codes
    return [table[code] for code in codes]


def of(source: Definition) -> SourceKind:
    """The kind of a source whose body was checked."""
    return KINDS[source.body["kind"]]
