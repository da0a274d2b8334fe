"""What makes the strongest reader of a Loki: what the gateway before it may pass."""

from __future__ import annotations

from audit.models import Definition
from evidence.kinds.http import site


def script(source: Definition) -> list[str]:
    """What makes the strongest reader: what the gateway before Loki may pass."""
    found = site.of(source.name, source.body)
    return [
        f"# The strongest reader of {source.name}, {found.origin}{found.base}. Loki itself knows tenants and no roles:",
        "# let the reader in by a gateway that passes GET and nothing else, like this one of nginx:",
        "location ~ ^/loki/api/v1/(query|query_range|labels|label/[^/]+/values|series|index/stats|status/buildinfo)$ {",
        "    limit_except GET { deny all; }",
        "    proxy_pass http://loki:3100;",
        "}",
        "location ~ ^/prometheus/api/v1/(rules|alerts)$ {",
        "    limit_except GET { deny all; }",
        "    proxy_pass http://loki:3100;",
        "}",
        "location / { return 403; }",
    ]
