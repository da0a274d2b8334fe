from django.db import migrations

from audit.migrations import _log_sql, _retention_sql, _seal_sql, _search_sql, _verification_sql, _witness_sql


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]

    operations = [
        migrations.RunSQL(
            [
                _log_sql.KINDS, _log_sql.TABLES, _search_sql.TABLES, _log_sql.FUNCTIONS, _search_sql.FUNCTIONS, _seal_sql.TABLES, _retention_sql.PAYLOAD_TRIGGER, _log_sql.TRIGGERS, _seal_sql.TRIGGERS,
                _seal_sql.FUNCTIONS, _verification_sql.TABLES, _verification_sql.TRIGGERS, _verification_sql.FUNCTIONS,
                _witness_sql.TABLES, _retention_sql.TABLES, _retention_sql.TRIGGERS, _retention_sql.FUNCTIONS,
            ],
            reverse_sql=migrations.RunSQL.noop,
        )
    ]
