from django.db import migrations

# What the writer sees of people: who may approve, and no password hash.
CREATE = """
create view people_approver with (security_barrier) as
  select id, username, full_name, role, is_active from people_person
"""

# A key that was revoked stays so: whoever can write people's keys can have none of them count again.
ENDS = """
create function people_key_ends() returns trigger language plpgsql as $$
begin
  raise exception 'A key that was revoked stays revoked.' using errcode = '42501';
end $$;
create trigger people_key_ends before update of revoked_at on people_key for each row
  when (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at)
  execute function people_key_ends();
"""
DROP_ENDS = "drop trigger people_key_ends on people_key; drop function people_key_ends()"


class Migration(migrations.Migration):
    dependencies = [("people", "0001_initial")]

    operations = [
        migrations.RunSQL(CREATE, reverse_sql="drop view people_approver"),
        migrations.RunSQL(ENDS, reverse_sql=DROP_ENDS),
    ]
