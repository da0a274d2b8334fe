select json_build_object(
    'charge_id', $1::text,
    'refunds', coalesce(
        json_agg(
            json_build_object(
                'refund_id', refund_id,
                'charge_id', charge_id,
                'amount_cents', amount_cents,
                'currency', currency,
                'status', status,
                'failure_reason', failure_reason,
                'created_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                'settled_at', to_char(settled_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            )
            order by created_at, refund_id
        ),
        '[]'::json
    ),
    'total', count(*)
) as result
from shop_read.refunds
where charge_id = $1::text
