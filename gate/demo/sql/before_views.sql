-- The schema of the views and their owner's eyes. Run each time, as the superuser.
create schema if not exists shop_read authorization shop_views;
grant usage on schema shop to shop_views;
grant select on shop.jobs, shop.job_attempts, shop.log_lines, shop.deploys, shop.charges, shop.refunds to shop_views;
grant usage on schema history to shop_views;
grant select on all tables in schema history to shop_views;
