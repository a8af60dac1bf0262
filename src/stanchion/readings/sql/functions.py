"""Functions that do more than compute, and what each of them does besides."""

from __future__ import annotations

from typing import Final

from stanchion.readings.word_lists import listed

REACHES: Final = "reaches files, programs, the network or other sessions"
WAITS: Final = "makes the server wait"
CHANGES: Final = "changes the state of the server"
RUNS: Final = "runs SQL that is in a text"

_LISTED: Final = {
    REACHES: """
        pg_read_file pg_read_binary_file pg_stat_file pg_file_write pg_file_read pg_file_rename
        pg_file_unlink pg_logdir_ls lo_import lo_export pg_terminate_backend pg_cancel_backend
        pg_reload_conf pg_rotate_logfile pg_promote pg_drop_replication_slot pg_switch_wal
        pg_backup_start pg_start_backup load_file sys_exec sys_eval sys_get sys_set
        load_extension readfile writefile fts3_tokenizer
        openrowset openquery opendatasource fn_xe_file_target_read_file fn_get_audit_file
        fn_trace_gettable sp_configure sp_addlogin sp_droplogin sp_password sp_addsrvrolemember
        sp_addrolemember sp_grantdbaccess sp_start_job sp_add_job sp_add_jobstep
        sp_execute_external_script sp_addextendedproc sp_addlinkedserver sp_attach_db sp_detach_db
        sp_makewebtask sp_send_dbmail sp_serveroption httpuritype
        read_text read_blob read_csv read_csv_auto read_json read_json_auto read_json_objects
        read_ndjson read_parquet parquet_scan sniff_csv sqlite_scan sqlite_attach postgres_scan
        postgres_attach postgres_execute mysql_scan mysql_execute
        external_query duckdb_secrets http_get http_post http_put http_delete""",
    WAITS: "pg_sleep pg_sleep_for pg_sleep_until sleep benchmark sleepeachrow waitfor",
    CHANGES: """
        nextval setval set_config lo_create lo_creat lo_unlink lo_put lo_from_bytea lo_truncate
        lowrite pg_notify pg_advisory_lock pg_advisory_lock_shared pg_advisory_xact_lock
        pg_advisory_xact_lock_shared pg_try_advisory_lock pg_try_advisory_xact_lock
        pg_advisory_unlock pg_advisory_unlock_all pg_create_restore_point pg_stat_reset
        pg_stat_reset_shared pg_stat_statements_reset pg_logical_emit_message
        pg_create_logical_replication_slot pg_create_physical_replication_slot
        get_lock release_lock release_all_locks""",
    RUNS: """
        query_to_xml query_to_xmlschema query_to_xml_and_xmlschema cursor_to_xml ts_stat crosstab
        connectby
        sp_executesql sp_msforeachtable sp_msforeachdb""",
}

_ONLY: Final = {
    "clickhouse": """
        url file s3 gcs hdfs remote remotesecure cluster jdbc odbc mysql postgresql mongodb redis
        executable sqlite
        azureblobstorage deltalake iceberg hudi s3cluster urlcluster""",
    "duckdb": "glob query query_table getenv",
    "sqlite": "edit",
}
"""Names that are dangerous in one dialect; elsewhere they are like any other."""

_FAMILIES: Final = (
    ("dblink", REACHES),
    ("xp_", REACHES),
    ("sp_oa", REACHES),
    ("pg_ls_", REACHES),
    ("utl_", REACHES),
    ("dbms_", REACHES),
    ("system$", REACHES),
)
"""What functions and packages do whose names begin like this."""

_BEGINNINGS: Final = tuple([begins for begins, _ in _FAMILIES])
_HARMLESS: Final = listed(
    "dbms_random dbms_lob dbms_utility dbms_metadata utl_raw utl_match dbms_stats dbms_output "
    "dbms_application_info dbms_xplan dbms_session dbms_assert utl_i18n dbms_crypto dbms_mview"
)  # fmt: skip
"""Packages of these families that compute, tell or tidy up."""

_EVERYWHERE: Final = {name: what for what, names in _LISTED.items() for name in names.split()}
_SOMEWHERE: Final = {dialect: frozenset(names.split()) for dialect, names in _ONLY.items()}


FILES: Final = listed(
    """
    read_csv read_csv_auto read_json read_json_auto read_json_objects read_ndjson read_parquet
    parquet_scan sniff_csv glob
    """
)
"""Functions that read the rows of a file."""
ONE_SESSION: Final = frozenset({"pg_cancel_backend"})
"""Functions that stop what one session does, and nothing else."""


def effect_of(name: str, dialect: str) -> str:
    """What a function does besides computing, by its name in small letters (`package.name` where it
    has one); empty where it is not known to do anything."""
    package, _, last = name.rpartition(".")
    known = _EVERYWHERE.get(last)
    if known is not None:
        return known
    if last in _SOMEWHERE.get(dialect, ()):
        return REACHES
    for part in (last, package.rpartition(".")[2]):
        if part.startswith(_BEGINNINGS) and part not in _HARMLESS:
            return next(what for begins, what in _FAMILIES if part.startswith(begins))
    return ""
