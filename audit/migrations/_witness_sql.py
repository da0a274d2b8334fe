"""What of the checkpoints has left the building, in SQL: a row for each place that they are sent to."""

TABLES = """
create table audit_witnessed (
  target text not null primary key check (target in ('file', 'webhook', 'witness')),
  size bigint not null default 0,     -- the last checkpoint that arrived there
  note text not null default '',      -- as it arrived; a witness's with its cosignature
  at timestamptz,                     -- when it arrived
  state text not null,                -- sent, failed, or refused: then the witness contradicts
  sentence text not null default '',
  tried_at timestamptz not null
);
"""
