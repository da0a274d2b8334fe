select * from jobs where id = 1;
select j.* from shop_read.jobs j where j.state in ('failed', 'queued') order by j.id desc limit 10 offset 5;
select count(*) as n, count(distinct state) as states, max(created_at) as newest from jobs;
select state, count(*) from jobs group by state having count(*) > 1 order by 2 desc;
select a.id, b.state as other from jobs a left join jobs b on a.id = b.id and b.state <> 'done' where b.id is null;
select id from jobs where created_at between '2026-01-01' and '2026-02-01' and state like 'f%' escape '!';
select id, case when amount > 10 then 'big' when amount is null then 'none' else 'small' end as size from jobs;
select id, if(state = 'done', 1, 0) as done, ifnull(amount, 0) as a, coalesce(amount, 0.0) as b, nullif(state, '') as
c from jobs;
select json_object('id', id, 'state', state, 'amount', amount) as result from jobs where id = 1;
select json_object('jobs', (select json_arrayagg(json_object('id', id, 'tags', json_array(1, 'a', null))) from jobs),
'total', (select count(*) from jobs)) as result;
select json_extract('{"a": [1, 2]}', '$.a[1]') as x, json_unquote(json_extract('{"a": "b"}', '$.a')) as y,
json_value('{"a": 1}', '$.a') as z;
select id, row_number() over (partition by state order by created_at desc, id) as r, sum(amount) over (order by id
rows between unbounded preceding and current row) as s from jobs;
select id, lag(state, 1) over w as before_it, rank() over w as r from jobs window w as (order by id);
with recent as (select id, state from jobs where id > 0) select r.id, r.state from recent r join jobs using (id);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 5) select i from n;
with a(x) as (select 1), b(y) as (select x from a) select y from b;
select id from jobs union select id from jobs union all (select id from jobs limit 1) order by 1 limit 3;
select id from jobs where exists (select 1 from jobs j where j.id = jobs.id) and id not in (select id from jobs where
state = 'x') and amount >= all (select amount from jobs where amount is not null);
select date_format(created_at, '%Y-%m-%dT%H:%i:%sZ') as at, unix_timestamp(created_at) as u, date(created_at) as d,
timestampdiff(second, created_at, now()) as age, date_sub(now(), interval 1 day) as y, created_at + interval 2 hour as
l, extract(year from created_at) as yy, date_add(created_at, interval '1:30' hour_minute) as z from jobs;
select cast(id as char) as a, cast('12' as signed) as b, convert(state using utf8mb4) as c, cast(amount as decimal(12,
3)) as d, binary state as e, hex(b) as f, state collate utf8mb4_bin as g, cast(created_at as date) as h, cast('x' as
char(3)) as i, cast(1 as unsigned) as j from jobs;
select concat(state, '-', id) as a, substring(state from 1 for 2) as b, substr(state, 2) as c, trim(leading 'd' from
state) as d, replace(state, 'a', 'b') as e, upper(state) as f, lpad(id, 5, '0') as g, length(state) as h,
char_length(state) as i, locate('a', state) as j, position('a' in state) as k, left(state, 2) as l, right(state, 2) as
m, reverse(state) as n, regexp_replace(state, 'a', 'b') as o, substring_index(state, 'a', 1) as p, find_in_set('a',
'a,b') as q, field(state, 'a') as r, trim(state) as s, instr(state, 'a') as t, mid(state, 1, 2) as u, concat_ws(',',
'a', null) as v from jobs;
select group_concat(distinct state order by state desc separator ', ') as s, group_concat(id) as i, std(amount) as d,
variance(amount) as v, bit_or(id) as b, avg(amount) as a from jobs;
select round(amount, 1) as a, floor(amount) as b, ceil(amount) as c, mod(id, 2) as d, id % 2 as e, id div 2 as f, id
mod 2 as g, abs(-1) as h, truncate(amount, 0) as i, greatest(1, 2) as j, -id as k, ~id as l, id & 1 as m, id | 1 as n,
id ^ 1 as o, id << 1 as p, id >> 1 as q, not id as r, !id as s, id xor 1 as t, pow(2, 3) as u, format(amount, 2) as v
from jobs;
select id from jobs where state regexp '^f' or state rlike 'x$' or state not like '%a' or amount <=> null or state is
not null or (id, state) = (1, 'done') or (id, state) in ((1, 'a'), (2, 'b'));
select j.id from jobs as j force index (primary) where j.id = 1;
select j.id from jobs j use index (a) ignore index (b) inner join jobs k on k.id = j.id cross join jobs l natural join
jobs m straight_join jobs n;
select jt.a from json_table('[{"a": 1}]', '$[*]' columns (a int path '$.a', n for ordinality, nested path '$.b[*]'
columns (c varchar(10) path '$'))) as jt;
select true as t, false as f, null as n, 0x41 as h, x'41' as i, b'1' as j, 1e3 as k, .5 as l, _utf8mb4'a' as m, n'a'
as o, date '2026-01-01' as p, timestamp '2026-01-01 00:00:00' as q, time '10:00:00' as r;
select (select max(id) from jobs) as m, (1 + 2) * 3 as n from dual;
select current_timestamp as a, current_date as b, utc_timestamp() as c, now(3) as d, localtime as e, curdate() as f,
current_timestamp(6) as g;
select id -- one
from jobs # two
/* three */ where id = 1;
select `id`, `jobs`.`state` from `shop_read`.`jobs` where `jobs`.`id` = 1;
select distinct state from jobs order by state is null, field(state, 'a', 'b');
select all id from jobs limit 5, 10;
select state, count(*) as n from jobs group by state with rollup;
select x.n from (select count(*) as n from jobs) as x;
select md5(state) as a, sha2(state, 256) as b, uuid_to_bin('x') as c, inet_ntoa(1) as d, json_valid(state) as e,
json_contains('[1]', '1') as f, json_keys('{}') as g, json_length('[]') as h, isnull(state) as i, strcmp('a', 'b') as
j, elt(1, 'a') as k, interval(1, 2) as l, convert_tz(now(), '+00:00', '+02:00') as m, str_to_date('2026', '%Y') as n,
last_day(now()) as o, week(now()) as p, dayofweek(now()) as q, yearweek(now()) as r, from_unixtime(0) as s,
sec_to_time(1) as t, time_to_sec('1') as u, timediff(now(), now()) as v, datediff(now(), now()) as w, makedate(2026,
1) as x, quarter(now()) as y, hour(now()) as z from jobs;
select id from jobs where match(state) against ('x' in boolean mode) or match(state) against ('y');
select percent_rank() over (order by id) as a, ntile(4) over (order by id) as b, first_value(id) over (order by id
range between interval 1 day preceding and current row) as c, dense_rank() over (order by id) as d, cume_dist() over
(order by id) as e, lead(id) over (order by id) as f, nth_value(id, 2) over (order by id) as g from jobs;
(select id from jobs) limit 1;
select id from jobs intersect select id from jobs except select 1;
select json_arrayagg(id order by id) as a, json_objectagg(id, state) as b, any_value(state) as c from jobs;
select doc->'$.a' as a, doc->>'$.b' as b from jobs;
select id from jobs where id in (?, ?) and created_at >= ? limit ?;
select 'it''s' as a, "say ""hi""" as b, 'back\\slash' as c, 'a' 'b' as d;
select count(*) from jobs, lateral (select 1 as one) l;
