select json_build_object(
    'deploys', coalesce(
        json_agg(
            json_build_object(
                'deploy_id', deploy_id,
                'service', service,
                'version', version,
                'deployed_by', deployed_by,
                'deployed_at', to_char(deployed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            )
            order by deployed_at desc, deploy_id desc
        ),
        '[]'::json
    ),
    'total', count(*)
) as result
from shop_read.deploys
where deployed_at >= $1::timestamptz
