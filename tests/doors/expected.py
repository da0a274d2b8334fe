"""Who may pass which door. A door that is not in these tables fails the walk until someone says here whose it is."""

from __future__ import annotations

ANYONE = frozenset({"nobody", "agent", "intake", "viewer", "on_call", "admin", "auditor"})
SIGNED_IN = frozenset({"viewer", "on_call", "admin", "auditor"})
ON_CALL = frozenset({"on_call"})
PROPOSERS = frozenset({"on_call", "admin"})
ADMINS = frozenset({"admin"})
EXPORTERS = frozenset({"admin", "auditor"})
AGENTS = frozenset({"agent"})
MONITORS = frozenset({"intake"})

PAGE = {"GET": SIGNED_IN}
SAFE_PAGE = {"GET": SIGNED_IN, "HEAD": SIGNED_IN}
# Address → method → who gets through. A method that is not named lets nobody through.
PEOPLES_PLANE: dict[str, dict[str, frozenset[str]]] = {
    # It leads to the inbox, whatever is asked.
    "": dict.fromkeys(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"), SIGNED_IN),
    "healthz": {"GET": ANYONE, "HEAD": ANYONE},
    "sign-in/": {"GET": ANYONE, "POST": SIGNED_IN},  # with their own passwords
    # Without a sign-in provider there is nothing behind these; tests/people/test_provider.py walks them with one.
    # It leads to the sign-in whoever did not type a right password before: tests/people/test_keys.py.
    "sign-in/passkey/": {"GET": ANYONE, "POST": ANYONE},
    "sign-in/passkey/options/": {},
    "sign-in/provider/": {},
    "sign-in/provider/return/": {},
    "me/identity/": {},
    "me/identity/provider/": {},
    "me/identity/end/": {"POST": SIGNED_IN},
    "sign-out/": {"POST": SIGNED_IN},
    "ui/": {},  # for whoever works on the screens, with DEBUG
    "metrics": {},  # for whom an operator gave the metrics token
    "password/<str:token>/": {},  # for whom an admin gave the link
    "me/": PAGE,
    "me/password/": {"POST": SIGNED_IN},
    "me/address/": {"POST": SIGNED_IN},
    "me/sessions/end/": {"POST": SIGNED_IN},
    "me/sessions/<int:pk>/end/": {"POST": SIGNED_IN},
    "me/keys/": PAGE,
    "me/keys/options/": {"POST": SIGNED_IN},  # with their own passwords
    "me/keys/enrollment/": {},  # nobody without an authenticator; the next two need one as well
    "me/keys/<int:pk>/confirmation/options/": {},
    "me/keys/<int:pk>/confirmation/": {},
    "me/keys/<int:pk>/revocation/": {"POST": ON_CALL | {"viewer"}},  # who have one of their own
    "people/keys/<int:pk>/confirmation/": {"POST": ADMINS},
    "people/keys/<int:pk>/revocation/": {"POST": ADMINS},
    "people/": SAFE_PAGE,
    "people/roles/": SAFE_PAGE,
    "people/invitation/": {"GET": ADMINS, "HEAD": ADMINS, "POST": ADMINS},
    "people/<int:pk>/": SAFE_PAGE,
    "people/<int:pk>/changes/": {"POST": ADMINS},
    "people/changes/<int:pk>/confirmation/": {"POST": ADMINS},
    "people/changes/<int:pk>/withdrawal/": {"POST": ADMINS},
    "mail/": {"GET": ADMINS, "HEAD": ADMINS},
    "mail/test/": {"POST": ADMINS},
    "search/": SAFE_PAGE,
    "intake-tokens/": {"GET": SIGNED_IN, "HEAD": SIGNED_IN, "POST": ADMINS},
    "intake-tokens/<int:pk>/revocation/": {"POST": ADMINS},
    "me/preferences/": {"POST": SIGNED_IN},
    "inbox/": PAGE,
    "inbox/rail/": PAGE,
    "inbox/nudges/": PAGE,
    "drafts/<int:pk>/": PAGE,
    "drafts/<int:pk>/review/": {"POST": ON_CALL},
    "drafts/<int:pk>/claim/": {"POST": ON_CALL},
    "drafts/<int:pk>/snooze/": {"POST": ON_CALL},
    "drafts/<int:pk>/sending/": {"GET": SIGNED_IN, "HEAD": SIGNED_IN, "POST": ON_CALL},
    "incidents/": PAGE,
    "incidents/new/": {"GET": PROPOSERS, "HEAD": PROPOSERS, "POST": PROPOSERS},
    "incidents/<int:pk>/": PAGE,
    "incidents/<int:pk>/closing/": {"POST": ON_CALL},
    "incidents/<int:pk>/reopening/": {"POST": ON_CALL},
    "incidents/<int:pk>/assignment/": {"POST": PROPOSERS},
    "incidents/<int:pk>/comments/": {"POST": PROPOSERS},
    "incidents/<int:pk>/investigations/<int:investigation>/stop/": {"POST": PROPOSERS},
    "incidents/<int:pk>/case/": {"GET": PROPOSERS, "HEAD": PROPOSERS, "POST": PROPOSERS},
    "cases/<slug:name>.json": SAFE_PAGE,
    "rules/": SAFE_PAGE,
    "rules/new/": {"GET": ADMINS, "HEAD": ADMINS, "POST": ADMINS},
    "rules/replay/": {"GET": SIGNED_IN, "HEAD": SIGNED_IN, "POST": PROPOSERS},
    "rules/replay/<int:pk>/": SAFE_PAGE,
    "rules/replay/<int:pk>/stop/": {"POST": PROPOSERS},
    "rules/drift/": SAFE_PAGE,
    "rules/drift/<int:pk>/settling/": {"POST": ADMINS},
    "rules/<slug:name>/": SAFE_PAGE,
    "rules/<slug:name>/trials/<int:pk>/": SAFE_PAGE,
    "rules/<slug:name>/trials/<int:pk>/stop/": {"POST": ADMINS},
    "rules/<slug:name>/versions/<int:number>/trials/": {"POST": ADMINS},
    "rules/<slug:name>/versions/<int:number>/signatures/": {"POST": ADMINS},
    "rules/<slug:name>/versions/<int:number>/shadow/": {"POST": ADMINS},
    "rules/<slug:name>/versions/<int:number>/activation/": {"POST": ADMINS},
    "classes/": SAFE_PAGE,
    "classes/new/": {"GET": ADMINS, "HEAD": ADMINS, "POST": ADMINS},
    "classes/<slug:name>/": SAFE_PAGE,
    "classes/<slug:name>/new/": {"GET": ADMINS, "HEAD": ADMINS, "POST": ADMINS},
    "writes/": PAGE,
    "writes/new/": {"GET": SIGNED_IN, "POST": PROPOSERS},
    "writes/<int:pk>/": PAGE,
    "writes/<int:pk>/progress/": PAGE,
    "writes/<int:pk>/preview/": {"POST": PROPOSERS},
    "writes/<int:pk>/rows/<slug:key>/": PAGE,
    "writes/<int:pk>/undo/": {"POST": PROPOSERS},
    "writes/<int:pk>/decision/": {"POST": ON_CALL},
    "writes/<int:pk>/decision/options/": {"POST": ON_CALL},
    "writes/<int:pk>/receipt.json": {},  # of an executed write: tests/writes/test_seals_and_receipts
    "writes/<int:pk>/settlement/": {"POST": ON_CALL},
    "writes/<int:pk>/edit/": PAGE,  # only its proposer gets through with a change
    "writes/<int:pk>/comments/": {"POST": PROPOSERS},
    # Nothing was approved alone in this world, and no canary was approved: tests/writes walks these two.
    "writes/<int:pk>/reviews/": {},
    "writes/canaries/<int:pk>/lifting/": {},
    "writes/canaries/": {"GET": EXPORTERS, "HEAD": EXPORTERS},
    "targets/": SAFE_PAGE,
    "targets/new/": {"GET": ADMINS, "HEAD": ADMINS, "POST": ADMINS},
    "targets/<slug:name>/": SAFE_PAGE,
    "targets/<slug:name>/new/": {"GET": ADMINS, "HEAD": ADMINS, "POST": ADMINS},
    "audit/": SAFE_PAGE,
    "audit/health/": SAFE_PAGE,
    "audit/health/starts/": SAFE_PAGE,
    "audit/health/verifying/": SAFE_PAGE,
    "audit/verifications/": {"POST": EXPORTERS},
    "audit/news/": SAFE_PAGE,
    "audit/views/": {"POST": SIGNED_IN},
    "audit/views/<int:pk>/removal/": {"POST": SIGNED_IN},
    "audit/seal/": SAFE_PAGE,
    "audit/alarm/": {"GET": SIGNED_IN, "HEAD": SIGNED_IN, "POST": ADMINS},
    "audit/overrides/<int:pk>/confirmation/": {"POST": ADMINS},
    "audit/overrides/<int:pk>/withdrawal/": {"POST": ADMINS},
    "audit/verifications/<int:pk>/": SAFE_PAGE,
    "audit/export/": {"POST": EXPORTERS},
    "audit/holds/": {"GET": SIGNED_IN, "HEAD": SIGNED_IN, "POST": EXPORTERS},
    "audit/holds/<int:pk>/lifting/": {"POST": EXPORTERS},
    "audit/redactions/<int:pk>/confirmation/": {"POST": ADMINS},
    "audit/redactions/<int:pk>/withdrawal/": {"POST": ADMINS},
    "audit/<int:seq>/redaction/": {"GET": ADMINS, "HEAD": ADMINS, "POST": ADMINS},
    "audit/<int:seq>/": SAFE_PAGE,
    "audit/<int:seq>/proof/": {"POST": SIGNED_IN},
    "audit/<int:seq>.json": SAFE_PAGE,
    "audit/<uuid:key>/": SAFE_PAGE,
    "agents/": {"GET": SIGNED_IN, "HEAD": SIGNED_IN, "POST": ADMINS},
    "agents/<slug:name>/": SAFE_PAGE,
    "agents/<slug:name>/tokens/": {"POST": ADMINS},
    "agents/<slug:name>/budget/": {"POST": ADMINS},
    "agents/<slug:name>/stop/": {"POST": ADMINS},
    "agents/<slug:name>/start/": {"POST": ADMINS},
    "agents/tokens/<int:pk>/revocation/": {"POST": ADMINS},
    "<slug:plural>/": SAFE_PAGE,
    "<slug:plural>/new/": {"GET": ADMINS, "HEAD": ADMINS, "POST": ADMINS},
    "<slug:plural>/<slug:name>/": SAFE_PAGE,
    "<slug:plural>/<slug:name>/new/": {"GET": ADMINS, "HEAD": ADMINS, "POST": ADMINS},
    "<slug:plural>/<slug:name>/versions/<int:number>/activation/": {"POST": ADMINS},
}
AGENTS_PLANE: dict[str, dict[str, frozenset[str]]] = {
    "api/v1/tools": {"GET": AGENTS, "HEAD": AGENTS, "OPTIONS": AGENTS},
    "api/v1/tools/<str:name>": {"POST": AGENTS, "OPTIONS": AGENTS},
    "api/v1/incidents": {"POST": MONITORS, "OPTIONS": MONITORS},
    "api/v1/investigations": {"POST": AGENTS, "OPTIONS": AGENTS},
    "api/v1/investigations/<int:investigation>/findings": {"POST": AGENTS, "OPTIONS": AGENTS},
    "api/v1/writes": {"POST": AGENTS, "OPTIONS": AGENTS},
    "api/v1/writes/<int:pk>": {"GET": AGENTS, "HEAD": AGENTS, "OPTIONS": AGENTS},
    "api/v1/schema": {"GET": ANYONE, "HEAD": ANYONE, "OPTIONS": ANYONE},
    "healthz": {"GET": ANYONE, "HEAD": ANYONE},
    "metrics": {},
}

# Desk tools: what an agent hands in. Evidence tools are definitions, and a definition can only read.
DESK_TOOLS = {"start_investigation", "submit_findings", "propose_write", "write_status"}

# Task → the roles of the database that may run it. Whoever else calls it changes nothing.
TASKS = {
    "audit.tasks.ensure_partitions": "worker",
    "audit.tasks.follow_log": "worker",
    "evidence.tasks.certify_source": "reads",
    "evidence.tasks.certify_all": "reads",
    "gate.triage.tasks.render_verdict": "worker",
    "gate.triage.tasks.abandon_overdue": "worker",
    "gate.triage.tasks.note_seals": "worker",
    "gate.triage.tasks.examine_draft": "worker",
    "gate.triage.tasks.try_rule": "worker",
    "gate.triage.tasks.replay_cases": "worker",
    "gate.writes.tasks.first_look": "reads",
    "gate.writes.tasks.first_look_unasked": "reads",
    "gate.writes.tasks.preview_write": "writer",
    "gate.writes.tasks.execute_write": "writer",
    "gate.writes.tasks.expire_writes": "writer",
    "gate.writes.tasks.plan_canary": "worker",
}

# Command → what someone would type who wants more than is theirs. None: it starts processes that are walked above.
COMMANDS: dict[str, tuple[str, ...] | None] = {
    "add_person": ("viewer", "--role", "admin"),
    "agent_token": ("asker", "--owner", "viewer", "--scopes", "tools,investigate,propose"),
    "backup": ("/nowhere/backup",),
    "canary": ("/nowhere/canaries.json",),
    "demo": ("--people-url", "http://127.0.0.1:9", "--agents-url", "http://127.0.0.1:9"),
    "intake_token": ("another-monitor",),
    "pin_key": ("on-call", "--fingerprint", "0000-0000-0000-0000-0000-0000-0000-0000"),
    "prove_reader": (),
    "reader_role": ("shop",),
    "attack": ("shop", "/nowhere/attacks.jsonl"),
    "seal": None,
    "reopen_log": ("--reason", "so that it is open"),
    "public_key": (),
    "export_log": ("--out", "/nowhere/export"),
    "verify_log": ("--since", "1"),
    "rebuild_search": (),
    "retain_log": ("--before", "2020-01", "--yes"),
    "new_seal_key": ("example.com/log", "--to", "/nowhere/key"),
    "publish": None,
    "relay": None,
    "witness": None,
    "restore": None,
    "replay": ("/nowhere/cases",),
    "rule_body": ("transient_failure_recovered", "1"),
    "revoke_keys": ("on-call",),
    "serve": None,
    "survival": ("/nowhere/trace.json",),
    "tamper_drill": ("--entries", "1"),
    "units": ("--procfile",),
    "up": None,
    "upgrade": None,
}
