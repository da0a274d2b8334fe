from django.db import migrations

# What the writer sees of people: who may approve, and no password hash.
CREATE = """
create view people_approver with (security_barrier) as
  select id, username, full_name, role, is_active from people_person
"""


class Migration(migrations.Migration):
    dependencies = [("people", "0001_initial")]

    operations = [migrations.RunSQL(CREATE, reverse_sql="drop view people_approver")]
