select json_build_object('job', (
    select json_build_object(
        'job_id', job_id,
        'kind', kind,
        'state', state,
        'attempts', attempts,
        'locked_by', locked_by,
        'started_at', to_char(started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        'finished_at', to_char(finished_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        'last_error', last_error
    )
    from shop_read.jobs
    where job_id = $1::bigint
)) as result
