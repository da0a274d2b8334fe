-- The shop's own tables, as its application made them. Run once, as shop_owner.
create schema shop;

create table shop.jobs (
    job_id bigint primary key,
    kind text not null,
    state text not null check (state in ('queued', 'running', 'succeeded', 'failed')),
    attempts integer not null default 0 check (attempts >= 0),
    priority smallint not null default 5,
    payload jsonb not null default '{}',
    locked_by text,
    run_after timestamptz(0) not null,
    started_at timestamptz(0),
    finished_at timestamptz(0),
    last_error text,
    created_at timestamptz(0) not null,
    updated_at timestamptz not null default clock_timestamp(),
    check ((state = 'running') = (locked_by is not null))
);

create table shop.job_attempts (
    job_id bigint not null references shop.jobs,
    attempt integer not null check (attempt > 0),
    started_at timestamptz(0) not null,
    ended_at timestamptz(0),
    outcome text not null check (outcome in ('running', 'succeeded', 'failed')),
    error text,
    primary key (job_id, attempt)
);

-- Every change of a job leaves a row here, so a write to jobs has a footprint of two tables.
create table shop.job_events (
    event_id bigint generated always as identity primary key,
    job_id bigint not null,
    at timestamptz not null default clock_timestamp(),
    changed_by name not null,
    was text,
    became text
);

create table shop.log_lines (
    line_id bigint generated always as identity primary key,
    at timestamptz(3) not null,
    job_kind text not null,
    job_id bigint,
    worker text not null,
    error text,
    message text not null
);
create index log_lines_by_kind on shop.log_lines (job_kind, at);

create table shop.deploys (
    deploy_id bigint primary key,
    service text not null,
    version text not null,
    deployed_by text not null,
    deployed_at timestamptz(0) not null
);

create table shop.charges (
    charge_id text primary key,
    order_id bigint not null,
    amount_cents integer not null check (amount_cents > 0),
    currency text not null check (currency ~ '^[a-z]{3}$'),
    captured boolean not null,
    disputed boolean not null default false,
    reconciled boolean not null default false,
    customer_email text not null,
    created_at timestamptz(0) not null,
    updated_at timestamptz not null default clock_timestamp()
);

create table shop.refunds (
    refund_id text primary key,
    charge_id text not null references shop.charges,
    amount_cents integer not null check (amount_cents > 0),
    currency text not null,
    status text not null check (status in ('pending', 'succeeded', 'failed')),
    failure_reason text,
    created_at timestamptz(0) not null,
    settled_at timestamptz(0),
    updated_at timestamptz not null default clock_timestamp(),
    check ((status = 'failed') = (failure_reason is not null))
);

-- The writer's proof that an approved write ran: its row commits with the change, or neither does.
create table shop.gate_ledger (
    approval_id uuid primary key,
    write_ref text not null,
    proposal_digest text not null,
    effect jsonb not null,
    executed_at timestamptz not null default now()
);

-- The clock, not the transaction's start: two dry runs in one transaction must see that this column moves.
create function shop.touch_updated_at() returns trigger language plpgsql set search_path = '' as $$
begin
    new.updated_at := pg_catalog.clock_timestamp();
    return new;
end $$;
create trigger touch_jobs before update on shop.jobs for each row execute function shop.touch_updated_at();
create trigger touch_charges before update on shop.charges for each row execute function shop.touch_updated_at();
create trigger touch_refunds before update on shop.refunds for each row execute function shop.touch_updated_at();

-- As the owner: who may change a job may not write, or leave out, what is told about the change.
create function shop.log_job_change() returns trigger language plpgsql security definer set search_path = '' as $$
begin
    insert into shop.job_events (job_id, changed_by, was, became)
    values (coalesce(new.job_id, old.job_id), session_user, old.state, new.state);
    return null;
end $$;
create trigger log_job_change after insert or update or delete on shop.jobs
    for each row execute function shop.log_job_change();

revoke execute on all functions in schema shop from public;
