"""What a credential of Elasticsearch or OpenSearch may do, read from what the server itself says of it. Pure.

A grant is one role or one set of privileges, in the server's own form. What is not known to be a read is taken for a
write. Sources: the security privileges of Elasticsearch (get user privileges, get API key information, has
privileges), and the permissions and default action groups of OpenSearch's security plugin.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from evidence.stating import Seen, Weight

# Of a cluster nothing is needed. `monitor` reads settings and statistics of the whole cluster; it writes nothing.
NONE = frozenset(("none",))
CLUSTER_READS = NONE | {"monitor"}
INDEX_READS = frozenset(("none", "read", "view_index_metadata", "read_cross_cluster"))
OPENSEARCH_READS = frozenset(("read", "search", "get", "indices:data/read*"))
OPENSEARCH_READ = "indices:data/read/"
OPENSEARCH_CLUSTER = frozenset((
    "cluster_composite_ops_ro", "indices:data/read/mget", "indices:data/read/msearch", "indices:data/read/search*",
))  # fmt: skip
# Asked of the server by name besides, which resolves roles and aliases as it does for a real request.
CLUSTER_WRITES = (
    "all", "manage", "manage_security", "manage_api_key", "manage_own_api_key", "grant_api_key", "manage_token",
    "manage_index_templates", "manage_ingest_pipelines", "manage_pipeline", "manage_ilm", "create_snapshot",
    "manage_watcher", "manage_enrich", "manage_transform", "manage_ml", "manage_ccr",
)  # fmt: skip
INDEX_WRITES = (
    "all", "write", "create", "create_doc", "index", "delete", "delete_index", "manage", "create_index", "maintenance",
    "auto_configure", "manage_ilm", "manage_follow_index",
)  # fmt: skip
ROLE = "Give the reader a role of its own: manage.py reader_role prints it."
ACCEPTABLE = frozenset(("cluster_reads", "indexes", "system_indexes"))
Grants = Sequence[Mapping[str, Any]]


def of_elasticsearch(grants: Grants, indexes: Collection[str]) -> list[Seen]:
    """The facts about grants in Elasticsearch's form, each true when no grant says the contrary."""
    unread = [UNREADABLE for grant in grants if not isinstance(grant, dict)] + ([] if grants else ["no grant"])
    cluster, granted = _all(grants, "cluster") + unread, _parts(grants, _INDEXES)
    privileges = {name for index in granted for name in _named(index, "privileges")}
    return [
        _seen("cluster_writes", "Of the cluster it may change nothing.", _strange(cluster, CLUSTER_READS)),
        _seen("cluster_reads", "Of the cluster it may read nothing, either.", _strange(cluster, NONE), Weight.LAYER),
        _seen("index_writes", "On indexes it may do nothing but read.", _strange(privileges, INDEX_READS)),
        _seen("run_as", "It may not act as anybody else.", _all(grants, "run_as")),
        _seen("applications", "It has no privileges of applications, Kibana among them.", _applications(grants)),
        _seen("global", "It has no privileges over privileges.", _all(grants, "global")),
        _seen("remote", "It may do nothing in other clusters.", _all(grants, "remote_indices", "remote_cluster")),
        _seen("indexes", "It reads the indexes that the source exposes, and no other.", _others(granted, indexes),
              Weight.LAYER),
        _seen("system_indexes", "It does not reach indexes of the system.", _restricted(granted), Weight.LAYER),
    ]  # fmt: skip


_INDEXES = ("indices", "index")  # a role descriptor may have either name
UNREADABLE = "something that cannot be read"


def of_opensearch(roles: Any, indexes: Collection[str]) -> list[Seen]:
    """The facts about roles as OpenSearch's security plugin gives them."""
    listed = list(roles.values()) if isinstance(roles, dict) else []
    grants = [role for role in listed if isinstance(role, dict)]
    granted = _parts(grants, ("index_permissions",))
    actions = {name for index in granted for name in _named(index, "allowed_actions")}
    writes = {name for name in actions - OPENSEARCH_READS if not name.startswith(OPENSEARCH_READ)}
    unseen = [] if grants and len(grants) == len(listed) else ["no role could be seen"]
    named = [{"names": _named(index, "index_patterns")} for index in granted]
    return [
        _seen("roles", "All of its roles can be seen.", unseen),
        _seen("cluster_writes", "Of the cluster it may change nothing.",
              _strange(_all(grants, "cluster_permissions"), OPENSEARCH_CLUSTER)),
        _seen("index_writes", "On indexes it may do nothing but read.", sorted(writes)),
        _seen("applications", "It has no rights on tenants of the dashboards.", _all(grants, "tenant_permissions")),
        _seen("indexes", "It reads the indexes that the source exposes, and no other.", _others(named, indexes),
              Weight.LAYER),
        _seen("system_indexes", "It does not reach indexes of the system.", _dotted(named), Weight.LAYER),
    ]  # fmt: skip


def of_answer(answer: Any) -> Seen:
    """The fact about what the server says to each write by name. What it does not say counts as a yes."""
    granted = [name for name in CLUSTER_WRITES if _said(answer, "cluster", name)]
    per_index = answer.get("index") if isinstance(answer, dict) else None
    for index in per_index if isinstance(per_index, dict) and per_index else [""]:
        granted += [f"{name} on {index}" for name in INDEX_WRITES if _said(answer, "index", index, name)]
    asked = len(CLUSTER_WRITES) + len(INDEX_WRITES)
    return _seen("tries", "The server denies it each write by name.", granted, shown=f"{asked} privileges denied")


def question(indexes: Collection[str]) -> dict[str, Any]:
    """What the server is asked about the reader: every write, on what the source exposes and on everything."""
    names = [*sorted(indexes), "*"]
    return {"cluster": list(CLUSTER_WRITES), "index": [{"names": names, "privileges": list(INDEX_WRITES)}]}


def _said(answer: Any, *path: str) -> bool:
    for step in path:
        answer = answer.get(step) if isinstance(answer, dict) else None
    return answer is not False


def _seen(name: str, sentence: str, contrary: Sequence[str], weight: Weight = Weight.WALL, shown: str = "") -> Seen:
    more = f" and {len(contrary) - 5} more" if len(contrary) > 5 else ""
    seen = f"{', '.join(contrary[:5])}{more}" if contrary else shown or "nothing contrary"
    return Seen(name, sentence, not contrary, seen, "" if not contrary else ROLE, weight)


def _listed(grant: Any, keys: Sequence[str]) -> list[Any]:
    """What stands under any of the keys, as a list. A single value is a list of one, as the server has it."""
    found = [grant[key] for key in keys if isinstance(grant, dict) and key in grant]
    return [item for value in found for item in (value if isinstance(value, list) else [value])]


def _parts(grants: Grants, keys: Sequence[str]) -> list[dict[str, Any]]:
    """The grants on indexes. One that cannot be read may be of anything, to do anything."""
    found = [part for grant in grants for part in _listed(grant, keys)]
    return [part if isinstance(part, dict) else {} for part in found]


def _named(part: Mapping[str, Any], key: str) -> list[str]:
    """The names that a grant lists under a key. One that lists none there cannot be read."""
    return [str(name) for name in _listed(part, (key,))] or [UNREADABLE]


def _all(grants: Grants, *keys: str) -> list[str]:
    return sorted({_name(item) for grant in grants for item in _listed(grant, keys) if item not in ({}, None)})


def _name(item: Any) -> str:
    return item if isinstance(item, str) else ", ".join(sorted(item)) if isinstance(item, dict) else str(item)


def _strange(found: Collection[str], known: Collection[str]) -> list[str]:
    return sorted(set(found) - set(known))


def _applications(grants: Grants) -> list[str]:
    return sorted({str(one.get("application", one)) if isinstance(one, dict) else str(one)
                   for grant in grants for one in _listed(grant, ("applications",))})  # fmt: skip


def _others(granted: Sequence[Mapping[str, Any]], indexes: Collection[str]) -> list[str]:
    return sorted({name for index in granted for name in _named(index, "names")} - set(indexes))


def _restricted(granted: Sequence[Mapping[str, Any]]) -> list[str]:
    reaching = [index for index in granted if index.get("allow_restricted_indices", False) is not False]
    return sorted({name for index in reaching for name in _named(index, "names")} | set(_dotted(granted)))


def _dotted(granted: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted({name for index in granted for name in _named(index, "names") if name.startswith(".")})


def narrowed(key: Any) -> Iterator[Any]:
    """The grants of an API key: its own, or where it was made without any, those of whoever made it.

    Those of its own are narrowed by its maker's; that is not counted on, for the maker's may grow. What cannot be read
    is everything.
    """
    own, makers = (key.get("role_descriptors"), key.get("limited_by")) if isinstance(key, dict) else (None, None)
    if isinstance(own, dict) and own:
        yield from own.values()
        return
    for grants in makers if isinstance(makers, list) and makers else [None]:
        yield from grants.values() if isinstance(grants, dict) and grants else [None]
