from django.db import migrations

from audit.migrations import _log_sql


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]

    operations = [
        migrations.RunSQL(
            [_log_sql.TABLES, _log_sql.FUNCTIONS, _log_sql.TRIGGERS],
            reverse_sql=migrations.RunSQL.noop,
        )
    ]
