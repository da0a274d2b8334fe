insert into jobs values (9, 'x')
update jobs set state = 'x'
delete from jobs
replace into jobs values (9, 'x')
drop table shop.jobs
drop view jobs
truncate table shop.jobs
alter table shop.jobs drop column state
create table planted (a int)
create temporary table planted (a int)
create view planted as select 1
create or replace view jobs as select 1
create function planted() returns int return 1
create procedure planted() select 1
create trigger planted before insert on shop.jobs for each row set new.state = 'x'
create event planted on schedule every 1 day do delete from shop.jobs
create index planted on shop.jobs (state)
create database planted
create user planted
create server planted foreign data wrapper mysql options (host '127.0.0.1')
create sequence planted
drop database shop
drop user mona@localhost
grant all on *.* to mona@localhost
revoke all on *.* from shop_views@localhost
rename table shop.jobs to shop.planted
set password = password('planted')
alter user mona@localhost identified by 'planted'
alter user current_user() identified by 'planted'
set global max_connections = 1
set session sql_mode = ''
set @a = 1
set role readers
set names latin1
set statement max_statement_time = 0 for select 1
select @a := 1
select @@global.secure_file_priv
select @@session.sql_mode
select 1 into @a
select id from jobs into @a
select 1 into outfile '/tmp/planted'
select 1 into dumpfile '/tmp/planted'
select id from jobs limit 1 into outfile '/tmp/planted'
(select 1) union (select 2) into outfile '/tmp/planted'
select load_file('/etc/passwd')
select LOAD_FILE(0x2f6574632f706173737764)
load data infile '/etc/passwd' into table jobs
load data local infile '/etc/passwd' into table jobs
load xml infile '/etc/passwd' into table jobs
select sleep(60)
select SLEEP (60)
select `sleep`(60)
select sleep/**/(60)
select sleep(60) from (select 1) as sleep
with sleep as (select 1) select sleep(60)
with sleep(a) as (select 1) select sleep(60) from sleep
select benchmark(1000000000, md5('x'))
select get_lock('planted', 60)
select release_all_locks()
select is_used_lock('planted')
select master_pos_wait('x', 1)
select last_insert_id(5)
select nextval(shop.planted)
select next value for shop.planted
select lastval(shop.planted)
select setval(shop.planted, 5)
select shop.touch()
select `shop`.`touch`()
select shop . touch ( )
select touch()
select uuid_short()
select user()
select current_user()
select current_user
select session_user()
select system_user()
select current_role()
select connection_id()
select password('x')
select sys_exec('id')
select sys_eval('id')
select extractvalue(1, concat(0x7e, 'x'))
select updatexml(1, concat(0x7e, 'x'), 1)
select id from jobs for update
select id from jobs for share
select id from jobs lock in share mode
select id from jobs for update nowait
select * from (select id from jobs for update) as x
select 1; drop table shop.jobs
select 1; select 2
select 1;; select 2
begin; select 1
start transaction read write
commit
rollback
xa start 'planted'
xa recover
savepoint planted
lock tables jobs write
unlock tables
flush tables
flush tables with read lock
flush privileges
reset query cache
kill 1
kill query 1
shutdown
purge binary logs to 'x'
change master to master_host = '127.0.0.1'
start slave
stop slave
install plugin planted soname 'planted.so'
uninstall plugin planted
install soname 'planted'
prepare planted from 'drop table shop.jobs'
execute planted
execute immediate 'drop table shop.jobs'
deallocate prepare planted
call planted()
do sleep(60)
do release_all_locks()
handler jobs open
handler jobs read first
analyze table jobs
analyze format = json select 1
optimize table jobs
repair table jobs
check table jobs
checksum table jobs
explain select 1
describe jobs
show grants
show processlist
show variables
show create view jobs
show databases
use shop
help 'x'
backup stage start
select /*!50000 sleep(60) */ 1
select /*!99999 1 */ 1
select /*M! sleep(60) */ 1
select 1 /*!into outfile '/tmp/planted'*/
select /*+ set_var(max_execution_time = 0) */ 1
select /*+ max_execution_time(0) */ 1
select 1 --/*!
select '/*!' as a
select sql_calc_found_rows id from jobs
select high_priority id from jobs
select sql_buffer_result id from jobs
select 1 procedure analyse(1, 1)
select * from shop.jobs
select * from mysql.user
select * from mysql . user
select * from `mysql`.`global_priv`
select * from information_schema.processlist
select * from INFORMATION_SCHEMA.tables
select * from performance_schema.threads
select * from sys.session
select * from Shop_Read.jobs
select (select word from other.secrets limit 1) as a
select id from jobs where id = (select count(*) from mysql.user)
with a as (select * from mysql.user) select * from a
select id from jobs union select user from mysql.user
select id from jobs order by (select 1 from mysql.user limit 1)
select id from jobs join mysql.db on true
with x as (delete from jobs returning id) select * from x
insert into jobs select * from jobs
values (1)
do 1
select 1 from dual where sleep(60)
select if(1, sleep(60), 0)
select case when sleep(60) then 1 end
select id from jobs group by sleep(60)
select id from jobs having benchmark(1000000000, 1)
select json_table(load_file('/etc/passwd'), '$' columns (a int path '$')) from jobs
select count(*) over (order by sleep(60)) from jobs
select cast(load_file('/etc/passwd') as char)
select convert(load_file('/etc/passwd') using utf8mb4)
select char(sleep(60))
select ? := 1
select 'unclosed
select "unclosed
select /* unclosed
select stored€(1)
select 1.sleep(5)
