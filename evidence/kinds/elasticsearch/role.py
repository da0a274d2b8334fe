"""What makes the strongest reader of Elasticsearch or OpenSearch: what an administrator sends to either."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import simplejson

from audit.models import Definition
from evidence.kinds.elasticsearch import proof


def script(source: Definition) -> Iterator[str]:
    """The role that reads the exposed indexes and nothing else, and a key or a user that has no more."""
    return _for_opensearch(source) if source.body["flavor"] == proof.OPENSEARCH else _for_elasticsearch(source)


def _for_opensearch(source: Definition) -> Iterator[str]:
    permission = {"index_patterns": source.body["indexes"], "allowed_actions": ["read"]}
    yield f"# The strongest reader of {source.name}, OpenSearch. Read it, then send both as an administrator."
    yield "PUT /_plugins/_security/api/roles/counterseal_reader"
    yield _json({"cluster_permissions": [], "index_permissions": [permission], "tenant_permissions": []})
    yield "PUT /_plugins/_security/api/rolesmapping/counterseal_reader"
    yield _json({"users": ["counterseal_reader"]})
    yield "# Take the user out of the mapping of own_index and kibana_user, which everybody (*) has at first."


def _for_elasticsearch(source: Definition) -> Iterator[str]:
    granted = {"names": source.body["indexes"], "privileges": ["read"], "allow_restricted_indices": False}
    role = {"cluster": [], "indices": [granted], "applications": [], "run_as": []}
    yield f"# The strongest reader of {source.name}, Elasticsearch. Read it, then send it as an administrator."
    yield "POST /_security/api_key"
    yield _json({"name": "counterseal_reader", "role_descriptors": {"counterseal_reader": role}})
    yield "# The variable holds `ApiKey ` and the `encoded` of the answer. The doctor is another key, which sees keys:"
    yield "POST /_security/api_key"
    doctor = {"cluster": ["read_security"], "indices": [], "applications": [], "run_as": []}
    yield _json({"name": "counterseal_doctor", "role_descriptors": {"counterseal_doctor": doctor}})


def _json(value: Any) -> str:
    return str(simplejson.dumps(value, indent=2))
