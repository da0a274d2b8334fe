-- What the shop keeps of its jobs, traffic and money as history: rows are added, never changed, and each says since when
-- it is known. A number as of a moment can be made of it, whatever came later. Run once, as shop_owner.
create schema history;

create table history.job (
    id text not null, kind text not null, queue text, enqueued_at timestamptz not null, ready_at timestamptz not null,
    due_at timestamptz not null, recorded_at timestamptz not null
);
create table history.job_policy (
    kind text not null, max_attempts integer not null, recorded_at timestamptz not null
);
create table history.attempt (
    id text not null, job_id text not null, n integer not null, slot text not null, started_at timestamptz not null,
    recorded_at timestamptz not null
);
create table history.attempt_end (
    attempt_id text not null, ended_at timestamptz not null, outcome text not null, error_class text,
    recorded_at timestamptz not null
);
create table history.queue (name text not null, slots integer not null, recorded_at timestamptz not null);
create table history.start (
    job_id text not null, started_at timestamptz not null, held_seconds numeric not null, recorded_at timestamptz not null
);
create table history.wait (
    job_id text not null, reason text not null, starts_at timestamptz not null, ends_at timestamptz not null,
    recorded_at timestamptz not null
);
create table history.minute (
    n integer not null, version text not null, requests integer not null, errors integer not null,
    recorded_at timestamptz not null
);
create table history.slo (budget numeric not null, recorded_at timestamptz not null);
create table history.deploy (version text not null, recorded_at timestamptz not null);
create table history.charge (
    id text not null, amount integer not null, repeats_id text, charged_at timestamptz not null,
    recorded_at timestamptz not null
);
create table history.refund_event (charge_id text not null, state text not null, recorded_at timestamptz not null);
create table history.dispute_event (charge_id text not null, state text not null, recorded_at timestamptz not null);
create table history.delivery_event (charge_id text not null, state text not null, recorded_at timestamptz not null);
create table history.charging (keys text not null, recorded_at timestamptz not null);

-- What people concluded afterwards. Nobody who investigates may read it, or hear that it is there.
create schema held_out;
create table held_out.job_outcome (job_id text not null, label text not null, recorded_at timestamptz not null);
