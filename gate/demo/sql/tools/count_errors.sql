with looked_at as (
    -- Past this many lines the count is given up, not guessed: the answer then has no count at all.
    select error
    from shop_read.log_lines
    where job_kind = $2::text and at >= $3::timestamptz and at < $4::timestamptz
    limit 25001
), tally as (
    select count(*) as lines, count(*) filter (where $1::text is null or error = $1::text) as found from looked_at
), period as (
    select json_build_object(
        'from', to_char($3::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        'to', to_char($4::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    ) as asked
)
select case
    when lines <= 25000 then json_build_object(
        'job_kind', $2::text, 'error', $1::text, 'window', asked, 'count', found, 'scanned', lines, 'complete', true
    )
    else json_build_object(
        'job_kind', $2::text, 'error', $1::text, 'window', asked, 'scanned', 25000, 'complete', false
    )
end as result
from tally, period
