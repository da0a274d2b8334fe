"""What makes the strongest reader of a Prometheus: its flags, and what a proxy before it may pass."""

from __future__ import annotations

from audit.models import Definition
from evidence.kinds.http import site
from evidence.kinds.prometheus.proving import DOORS


def script(source: Definition) -> list[str]:
    """What makes the strongest reader: the flags, and what a proxy before the server may pass."""
    found = site.of(source.name, source.body)
    return [
        f"# The strongest reader of {source.name}, {found.origin}{found.base}. Prometheus knows no roles: who",
        "# reaches it may do whatever its flags allow. Start it without these:",
        *(f"#   --{door.flag}" for door in DOORS),
        "# and let others reach it through a proxy alone that passes GET and nothing else, like this one of nginx:",
        "location ~ ^/api/v1/(query|query_range|series|labels|label/[^/]+/values|rules|alerts|targets|metadata)$ {",
        "    limit_except GET { deny all; }",
        "    proxy_pass http://prometheus:9090;",
        "}",
        "location ~ ^/api/v1/(alertmanagers|status/buildinfo|status/flags)$ {",
        "    limit_except GET { deny all; }",
        "    proxy_pass http://prometheus:9090;",
        "}",
        "location / { return 403; }",
    ]
