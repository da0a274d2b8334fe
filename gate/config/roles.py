"""The database roles, as one table: who may touch which table how, and who may write which kind of entry.

`manage.py upgrade` makes the database equal to this table; a test compares the catalogs with it. Notes for readers:
SELECT … FOR UPDATE needs UPDATE on one column, and INSERT … RETURNING needs SELECT on what it returns. A privilege
with columns is written "SELECT(id,seq)".
"""

from audit import header
from audit.kinds import Kind

PROCESSES = (
    "owner", "people", "agents", "reads", "answers", "worker", "writer", "sealer", "publisher", "auditor", "drill",
    "retention",
)  # fmt: skip

# Which role a command line connects as. The owner migrates and runs nothing else.
COMMANDS = {
    "serve people": "people",
    "serve agents": "agents",
    "relay": "worker",
    "upgrade": "owner",
    "backup": "owner",
    "restore": "owner",
    "migrate": "owner",
    "makemigrations": "owner",
    "prove_reader": "reads",
    "reader_role": "reads",
    "attack": "reads",
    "seal": "sealer",
    "reopen_log": "owner",
    "public_key": "auditor",
    "export_log": "auditor",
    "publish": "publisher",
    "witness": "witness",
    "replay": "replay",
    "policy": "policy",
    "verify_log": "auditor",
    "tamper_drill": "drill",
    "rebuild_search": "worker",
    "pin_key": "writer",
    "canary": "worker",
    "retain_log": "retention",
}
# Every process may look up which migrations have run.
FOR_ALL = {"django_migrations": "SELECT"}
READ_SEAL = {
    "audit_leaf": "SELECT",
    "audit_node": "SELECT",
    "audit_checkpoint": "SELECT",
    "audit_epoch": "SELECT",
    "audit_sealstate": "SELECT",
    "audit_retained": "SELECT",
    "audit_verification": "SELECT",
    "audit_verificationask": "SELECT",
    "audit_verifierstate": "SELECT",
    "audit_override": "SELECT",
    "audit_witnessed": "SELECT",
}


def role_name(process: str) -> str:
    """The database role of a process of the table."""
    return f"counterseal_{process}"


# What every entry's writer needs: append, and read back the number that it was given. Column by column: what the server
# says of an entry, nobody else may.
APPEND = {"audit_append": f"INSERT({','.join(header.COLUMNS)}) SELECT(id,seq,at)", "audit_payload": "INSERT"}
READ_LOG = {"audit_entry": "SELECT", "audit_payload": "SELECT", "audit_link": "SELECT", **READ_SEAL}
# What somebody needs who does both: of the payloads, either alone is less.
READ_AND_APPEND = {**READ_LOG, **APPEND, "audit_payload": "SELECT INSERT"}
READ_DEFINITIONS = {"audit_definition": "SELECT"}
# A job's own bookkeeping: the heartbeat while it runs, done when it has.
RUN_JOBS = {
    "audit_outbox": "SELECT UPDATE(heartbeat_at,attempts,done_at,gave_up_at,error)",
    "audit_heartbeat": "SELECT INSERT UPDATE",
}

GRANTS: dict[str, dict[str, str]] = {
    # Reviews, approvals and preview requests are inserted here and nowhere else.
    "people": {
        **READ_AND_APPEND,
        "audit_link": "SELECT INSERT",
        "audit_outbox": "SELECT INSERT(task,queue,subject_id)",
        "audit_heartbeat": "SELECT",
        "audit_definition": "SELECT INSERT UPDATE(status,activated_by_id,activated_at,solo,retired_at)",
        "audit_search": "SELECT",
        "audit_searchstate": "SELECT",
        "audit_savedview": "SELECT INSERT DELETE",
        "audit_hold": "SELECT INSERT UPDATE(lifted_by_id,lifted_at,why_lifted)",
        "audit_redaction": "SELECT INSERT UPDATE(status,decided_by_id,decided_at)",
        "audit_verificationask": "SELECT INSERT(asked_by)",
        "audit_override": "SELECT INSERT UPDATE(status,decided_by_id,decided_by_name,decided_at,solo)",
        "audit_agent": (
            "SELECT INSERT UPDATE(owner_id,owner_name,stopped_at,calls_per_hour,open_investigations,proposals_per_day)"
        ),
        "audit_agentuse": "SELECT",
        "audit_agenttoken": "SELECT INSERT UPDATE(revoked_at)",
        "evidence_certificate": "SELECT",
        "evidence_writtenread": "SELECT UPDATE(settled_at)",
        "evidence_calluse": "SELECT",
        "evidence_callslot": "SELECT",
        "evidence_calltotal": "SELECT",
        "evidence_question": "SELECT",
        "evidence_monitorstate": "SELECT(id,at)",
        "evidence_agentalert": (
            "SELECT UPDATE(state,acknowledged_by_id,acknowledged_at,reason,letter,letter_tries,letter_at,letter_why)"
        ),
        "evidence_proofask": "SELECT INSERT",
        # A question, and never its answer: whether golden values hold is for the reads worker to say.
        "evidence_metricask": (
            "SELECT INSERT(version_id,digest,kind,arguments,decision_point,asked_by_id,asked_by_name,asked_by_username)"
        ),
        "people_person": "SELECT INSERT UPDATE",
        "people_tally": "SELECT INSERT UPDATE DELETE",
        "people_change": "SELECT INSERT UPDATE(status,decided_by_id,decided_at,solo)",
        "people_passwordlink": "SELECT INSERT UPDATE(used_at,expires_at)",
        "people_visit": "SELECT INSERT UPDATE DELETE",
        "people_identity": "SELECT INSERT DELETE",
        "people_key": (
            "SELECT INSERT"
            " UPDATE(sign_count,is_backed_up,used_at,used_for,quarantined_until,status,confirmed_with_id,decided_by_id,"
            "decided_at,solo,revoked_at,revoked_by_id)"
        ),
        "people_keychallenge": "SELECT INSERT DELETE",
        "django_session": "SELECT INSERT UPDATE DELETE",
        "triage_intaketoken": "SELECT INSERT UPDATE(revoked_at)",
        "triage_incident": "SELECT INSERT UPDATE(status,owner_id,guidance,closed_at,version)",
        "triage_comment": "SELECT INSERT",
        "triage_investigation": "SELECT UPDATE(status)",
        "triage_finding": "SELECT",
        "triage_draft": "SELECT UPDATE(status,version,claimed_by_id,claimed_until,snoozed_until)",
        "triage_review": "SELECT INSERT",
        "triage_lateevent": "SELECT INSERT",
        "triage_sending": "SELECT INSERT UPDATE(status,why)",
        "triage_examination": "SELECT",
        "triage_trace": "SELECT INSERT",
        "triage_promotedcase": "SELECT INSERT",
        "triage_trial": "SELECT INSERT UPDATE(status)",
        "triage_flip": "SELECT",
        "triage_flipsignature": "SELECT INSERT",
        "triage_shadowresult": "SELECT",
        "triage_replay": "SELECT INSERT UPDATE(status)",
        "triage_replayline": "SELECT",
        "triage_seenfield": "SELECT",
        "triage_drift": "SELECT UPDATE(settled_by_id,settled_at,settled_why)",
        "writes_writerequest": "SELECT INSERT UPDATE(status,version)",
        "writes_edition": "SELECT",
        "writes_previewrequest": "SELECT INSERT",
        "writes_preview": "SELECT",
        "writes_decision": "SELECT INSERT",
        "writes_offeredstatement": "SELECT INSERT UPDATE(used_at) DELETE",
        "writes_pinnedkey": "SELECT",
        "writes_execution": "SELECT",
        "writes_settlement": "SELECT INSERT",
        "writes_viewing": "SELECT INSERT",
        "writes_firstlook": "SELECT",
        "writes_admission": "SELECT",
        "writes_admissionrequest": "SELECT INSERT(write_id,edition)",
        "writes_writecomment": "SELECT INSERT",
        "writes_glassreview": "SELECT INSERT",
        "writes_canary": "SELECT",
        "writes_canaryanswer": "SELECT INSERT UPDATE(lifted_by_id,lifted_at,why_lifted)",
        "admission_answerlabel": "SELECT INSERT",
    },
    # Open incidents only (a row policy, below); no verdicts, no reviews, no outcomes.
    "agents": {
        **APPEND,
        **READ_DEFINITIONS,
        "audit_outbox": "SELECT INSERT(task,queue,subject_id)",
        "audit_heartbeat": "SELECT",
        "audit_agent": "SELECT",
        "audit_agenttoken": "SELECT",
        "audit_agentuse": "SELECT INSERT UPDATE(since,used)",
        "evidence_certificate": "SELECT",
        "evidence_writtenread": "SELECT INSERT",
        "evidence_calluse": "SELECT INSERT UPDATE(since,used)",
        "evidence_calltotal": "SELECT",
        # It asks, and reads what came; who answers is another process, with a key of its own.
        "admission_answerask": "SELECT INSERT(version_id,questions,action,asked_for)",
        "triage_intaketoken": "SELECT",
        "triage_incident": "SELECT INSERT UPDATE(status,reported_resolved_at,title,severity,members,undelivered)",
        "triage_investigation": "SELECT INSERT UPDATE(status,calls_used,hypothesis,answer,submitted_at)",
        "triage_finding": "SELECT INSERT",
        # That it is there, and no more: what was measured of it is for people.
        "triage_trace": "INSERT SELECT(id,investigation_id,origin,sha256,format,size,kept,skipped,steps,status)",
        "writes_writerequest": "SELECT INSERT",
        # What a proposer learns: the reason that ended a write, and how many of which role are still missing.
        "writes_edition": "SELECT(id,write_id,edited_at,edited_by_agent_id)",
        "writes_preview": "SELECT(id,write_id,edition,digest,error)",
        "writes_decision": "SELECT(id,write_id,act,edition,reason,by_id,role,statement,at)",
        "writes_execution": "SELECT(id,write_id,state,error)",
        "writes_admission": "SELECT",
        "writes_admissionrequest": "SELECT(id) INSERT(write_id,edition)",
        "people_approver": "SELECT(id,role,is_active)",
        # Bad proposals that the worker planned: it proposes them as any other, and can call nothing one.
        "writes_canary": "SELECT(id,write_id,proposal)",
    },
    # Certificates and first looks, with the read-only and doctor credentials.
    "reads": {
        **APPEND,
        **READ_DEFINITIONS,
        **RUN_JOBS,
        "evidence_certificate": "SELECT INSERT",
        "evidence_writtenread": "SELECT INSERT",
        "evidence_proofask": "SELECT",
        "evidence_metricask": "SELECT UPDATE(answer,problem,answered_at,audit_id)",
        "writes_writerequest": "SELECT",
        "writes_previewrequest": "SELECT",
        "writes_firstlook": "SELECT INSERT",
        # What probes ask: whether something goes on about the same subject. It judges through a function (below).
        "triage_incident": "SELECT(id,status,subject,members)",
        "writes_admission": "SELECT",
        # Of what a policy asks of a model, it asks the answering worker.
        "writes_admissionrequest": "SELECT INSERT(write_id,edition) UPDATE(answer_ask)",
        "admission_answerask": "SELECT INSERT(version_id,questions,action,asked_for)",
        "audit_outbox": "SELECT INSERT(task,queue,subject_id) UPDATE(heartbeat_at,attempts,done_at,gave_up_at,error)",
    },
    # It asks the answering model what a policy asks, and holds the key to that: nothing of production, nothing of
    # people, and not what was decided.
    "answers": {
        **APPEND,
        **READ_DEFINITIONS,
        **RUN_JOBS,
        "admission_answerask": "SELECT UPDATE(answers,model,latency_ms,entry,answered_at) DELETE",
        # What it answered about a write, the reads worker goes on with.
        "writes_admissionrequest": "SELECT",
        "audit_outbox": "SELECT INSERT(task,queue,subject_id) UPDATE(heartbeat_at,attempts,done_at,gave_up_at,error)",
    },
    # Verdicts and drafts, and the relay that hands jobs to the broker.
    "worker": {
        **READ_AND_APPEND,
        **READ_DEFINITIONS,
        "audit_link": "SELECT INSERT",
        "audit_search": "SELECT INSERT UPDATE(doc)",
        "audit_searchstate": "SELECT UPDATE(next_leaf,newest,analyzed)",
        # A verdict asks for what comes after it: see gate.triage.examining.
        "audit_outbox": (
            "SELECT INSERT(task,queue,subject_id) UPDATE(sent_at,heartbeat_at,attempts,done_at,gave_up_at,error)"
        ),
        "audit_heartbeat": "SELECT INSERT UPDATE",
        "audit_agent": "SELECT",
        # What is counted of agents' calls, and the alerts that follow: see evidence.counted and evidence.alerts.
        "evidence_callslot": "SELECT INSERT UPDATE(calls,durations) DELETE",
        "evidence_calltotal": "SELECT INSERT UPDATE(calls,milliseconds,durations)",
        "evidence_question": "SELECT INSERT UPDATE(times,last_seq,last_at) DELETE",
        "evidence_monitorstate": "SELECT INSERT UPDATE(next_leaf,at)",
        "evidence_agentalert": "SELECT INSERT UPDATE(sentence,seq,state,true_at,over_at)",
        # It opens what no monitor can report: that a read wrote.
        "evidence_writtenread": "SELECT UPDATE(incident_id)",
        "triage_incident": "SELECT INSERT UPDATE(status)",
        "triage_investigation": "SELECT UPDATE(status)",
        "triage_finding": "SELECT",
        "triage_draft": "SELECT INSERT UPDATE(seals,is_sealed)",
        "triage_review": "SELECT(id,draft_id,act,at)",
        "triage_lateevent": "SELECT",
        "triage_examination": "SELECT INSERT",
        "triage_trace": "SELECT INSERT UPDATE",
        "triage_promotedcase": "SELECT",
        "triage_trial": "SELECT UPDATE",
        "triage_flip": "SELECT INSERT",
        "triage_shadowresult": "SELECT INSERT",
        "triage_replay": "SELECT UPDATE",
        "triage_replayline": "SELECT INSERT",
        "triage_seenfield": "SELECT INSERT UPDATE",
        "triage_drift": "SELECT INSERT UPDATE(times)",
        # It plans bad proposals, and proposes nothing.
        "writes_canary": "INSERT SELECT(id,write_id)",
    },
    # Starts from rows that only people insert; sees people without their password hashes.
    "writer": {
        **READ_AND_APPEND,
        **READ_DEFINITIONS,
        **RUN_JOBS,
        "audit_agent": "SELECT",
        "people_approver": "SELECT",
        "people_key": "SELECT",
        "writes_writerequest": "SELECT UPDATE(status,version)",
        "writes_edition": "SELECT",
        "writes_admission": "SELECT",
        "writes_previewrequest": "SELECT",
        "writes_preview": "SELECT INSERT",
        "writes_decision": "SELECT",
        "writes_pinnedkey": "SELECT INSERT UPDATE(revoked_at,revoked_by)",
        "writes_canary": "SELECT",
        "writes_execution": "SELECT INSERT UPDATE",
        "writes_settlement": "SELECT",
        # Whether something goes on about the same subject by now, which a policy may stop it for.
        "triage_incident": "SELECT(id,status,subject,members)",
    },
    # It alone grows the tree, and holds the key that signs it.
    "sealer": {
        **READ_AND_APPEND,
        "audit_leaf": "SELECT INSERT",
        "audit_node": "SELECT INSERT",
        "audit_checkpoint": "SELECT INSERT",
        "audit_sealstate": "SELECT INSERT UPDATE",
    },
    # It carries checkpoints out, and talks to the network: no entry, no key, nothing of the people.
    "publisher": {
        "audit_leaf": "SELECT",
        "audit_node": "SELECT",
        "audit_checkpoint": "SELECT",
        "audit_witnessed": "SELECT INSERT UPDATE",
    },
    "auditor": {
        **READ_AND_APPEND,
        "audit_verification": "SELECT INSERT",
        "audit_verifierstate": "SELECT INSERT UPDATE",
        # Rows that decide something: it holds each against the entry that says so.
        "audit_agent": "SELECT",
        "audit_agenttoken": "SELECT",
        "audit_definition": "SELECT",
        "audit_hold": "SELECT",
        "audit_redaction": "SELECT",
        "audit_search": "SELECT(entry_id)",
        "audit_searchstate": "SELECT(next_leaf)",
    },
    # It copies entries into a scratch database, to tamper with them there. Here it writes down how that went.
    "drill": {
        **APPEND,
        "audit_entry": "SELECT",
        "audit_payload": "SELECT INSERT",
        "audit_verification": "SELECT",
        "audit_leaf": "SELECT",
        "audit_checkpoint": "SELECT",
    },
    # It drops months that are over, through functions that check everything; it reads no entry.
    "retention": {**APPEND},
}

# The one way in which a proposal changes: into its next edition.
EDIT_WRITE = "writes_edit(bigint,integer,jsonb,bigint,bigint)"

# The one way in which a proposal gets in front of people, or is stopped before.
ADMIT_WRITE = "writes_admit(bigint,integer,jsonb)"

# The one way in which a planned canary becomes a proposal.
PLACE_CANARY = "writes_place_canary(bigint,jsonb)"

# The one way in which a report opens again what is closed: where a pass closed it, and is still watched.
REOPEN_WATCHED = "triage_reopen_watched(text,text,timestamp with time zone,text)"

# Functions that run with the owner's rights, and who may call them: the log's upkeep, and nothing that decides.
FUNCTIONS: dict[str, tuple[str, ...]] = {
    "worker": ("audit_ensure_partitions(integer)", "audit_analyze_search()", "audit_default_rows()"),
    "people": (
        "audit_horizon()",
        "audit_redact(bigint,text)",
        "audit_default_rows()",
        "triage_clear_copies(bigint)",
        "evidence_clear_copies(bigint)",
        "admission_clear_copies(bigint)",
        EDIT_WRITE,
    ),
    "agents": ("audit_default_rows()", EDIT_WRITE, PLACE_CANARY, REOPEN_WATCHED),
    "reads": (ADMIT_WRITE,),
    "sealer": ("audit_horizon()",),
    "auditor": ("audit_newest_number()",),
    "retention": (
        "audit_retention(integer)",
        "audit_restated()",
        "audit_retain(date,integer,text)",
        "evidence_forget_copies()",
    ),
}

# Row policies: the agents' plane sees no incident that is closed, whatever it asks.
ROW_POLICIES: dict[str, dict[str, str]] = {
    "triage_incident": {
        "agents": "status <> 'closed'",
        "reads": "status <> 'closed'",
        "people": "true",
        "worker": "true",
        "writer": "true",
    }
}

PERSON_ACTS = (
    Kind.INCIDENT_OPENED, Kind.INCIDENT_UPDATED, Kind.INCIDENT_CLOSED, Kind.INCIDENT_REOPENED,
    Kind.INVESTIGATION_STOPPED, Kind.DRAFT_CLAIMED, Kind.DRAFT_AGREED, Kind.DRAFT_OVERRULED, Kind.DRAFT_SENT_BACK,
    Kind.DRAFT_SNOOZED, Kind.ANSWER_ATTEMPTED, Kind.ANSWER_SENT, Kind.ANSWER_REFUSED, Kind.ANSWER_UNKNOWN,
    Kind.COMMENT_ADDED, Kind.ASSIGNMENT_CHANGED, Kind.WRITE_PROPOSED, Kind.WRITE_APPROVED,
    Kind.WRITE_REJECTED, Kind.WRITE_CHANGES_REQUESTED, Kind.WRITE_EDITED, Kind.WRITE_WITHDRAWN, Kind.WRITE_SETTLED,
    Kind.WRITE_GLASS_REVIEWED, Kind.CANARY_CAUGHT, Kind.CANARY_APPROVED, Kind.CANARY_PAUSE_LIFTED,
    Kind.DEFINITION_DRAFTED, Kind.DEFINITION_ACTIVATED, Kind.DEFINITION_RETIRED, Kind.PERSON_SIGNED_IN,
    Kind.PERSON_REFUSED, Kind.PERSON_CHANGED, Kind.KEY_ENROLLED, Kind.KEY_REVOKED, Kind.TOKEN_ISSUED,
    Kind.TOKEN_REVOKED, Kind.AGENT_CHANGED, Kind.MAIL_SENT, Kind.MAIL_FAILED, Kind.LOG_VIEWED, Kind.LOG_EXPORTED,
    Kind.LOG_HELD, Kind.LOG_REDACTION_ASKED, Kind.LOG_REDACTED, Kind.LOG_OVERRIDDEN,
    Kind.LOG_VERIFICATION_ASKED, Kind.DEFINITION_SHADOWED, Kind.RULE_TRIED, Kind.RULE_FLIPS_SIGNED,
    Kind.RULE_REPLAYED, Kind.CASE_PROMOTED, Kind.DRIFT_SETTLED, Kind.AGENT_ALERT_ACKNOWLEDGED,
    Kind.SOURCE_PROOF_ASKED, Kind.TRACE_UPLOADED, Kind.ADMISSION_LABELED,
)  # fmt: skip

WRITES_KINDS: dict[str, tuple[Kind, ...]] = {
    "owner": (Kind.LOG_SCHEMA, Kind.LOG_RESTORED, Kind.LOG_REOPENED),
    "people": PERSON_ACTS,
    "agents": (
        Kind.CALL_STARTED, Kind.CALL_FINISHED, Kind.CALL_REFUSED, Kind.INCIDENT_OPENED, Kind.INCIDENT_UPDATED,
        Kind.INCIDENT_REPORTED_RESOLVED, Kind.INCIDENT_REOPENED, Kind.INVESTIGATION_STARTED, Kind.FINDINGS_SUBMITTED,
        Kind.INVESTIGATION_ABANDONED, Kind.TRACE_UPLOADED, Kind.WRITE_PROPOSED, Kind.WRITE_EDITED,
        Kind.ADMISSION_DECIDED,
    ),
    # Its calls are those that a person, or beat, asked for: see evidence.metric_asks.
    "reads": (
        Kind.SOURCE_CERTIFIED, Kind.SOURCE_DARKENED, Kind.WRITE_LOOKED_AT, Kind.WRITE_ADMITTED, Kind.WRITE_BLOCKED,
        Kind.CALL_STARTED, Kind.CALL_FINISHED, Kind.CALL_REFUSED,
    ),
    "answers": (Kind.ADMISSION_ANSWERED,),
    "worker": (
        Kind.VERDICT_RENDERED, Kind.INVESTIGATION_ABANDONED, Kind.AGENT_ALERTED, Kind.INCIDENT_OPENED,
        Kind.INCIDENT_UPDATED,
    ),
    "writer": (
        Kind.WRITE_PREVIEWED, Kind.WRITE_CLAIMED, Kind.WRITE_EXECUTED, Kind.WRITE_REFUSED_STALE, Kind.WRITE_FAILED,
        Kind.WRITE_UNKNOWN, Kind.WRITE_EXPIRED, Kind.KEY_PINNED, Kind.KEY_UNPINNED,
    ),
    "sealer": (Kind.LOG_SEALED_KEY,),
    "publisher": (),
    "auditor": (Kind.LOG_EXPORTED, Kind.LOG_VERIFIED),
    "drill": (Kind.LOG_DRILLED,),
    "retention": (Kind.LOG_RETAINED,),
}  # fmt: skip
