select json_build_object(
    'attempts', coalesce(
        json_agg(
            json_build_object(
                'attempt', attempt,
                'started_at', to_char(started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                'ended_at', to_char(ended_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                'outcome', outcome,
                'error', error
            )
            order by attempt
        ),
        '[]'::json
    ),
    'total', count(*)
) as result
from shop_read.job_attempts
where job_id = $1::bigint
