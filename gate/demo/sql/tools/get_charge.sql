select json_build_object('charge', (
    select json_build_object(
        'charge_id', charge_id,
        'order_id', order_id,
        'amount_cents', amount_cents,
        'currency', currency,
        'captured', captured,
        'disputed', disputed,
        'created_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    )
    from shop_read.charges
    where charge_id = $1::text
)) as result
