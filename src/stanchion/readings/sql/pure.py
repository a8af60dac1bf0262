"""Pure functions: those that are known to do nothing but compute, or to tell something about the
server."""

from __future__ import annotations

from functools import cache
from typing import Final

from stanchion.readings.sql.dialect import DIALECTS
from stanchion.readings.sql.functions import effect_of
from stanchion.readings.word_lists import in_order, listed

_LISTED: Final = """
    age array_append array_cat array_dims array_fill array_lower array_ndims array_positions
    array_prepend array_replace array_upper bit_count bit_length btrim cardinality char_length
    character_length clock_timestamp col_description convert_from convert_to current_database
    current_schemas current_setting date_bin daterange datemultirange decode encode format
    format_type gcd get_bit get_byte has_column_privilege has_database_privilege
    has_schema_privilege has_table_privilege host hostmask inet_client_addr inet_server_addr initcap
    int4range int8range isempty isfinite jsonb_agg jsonb_array_elements jsonb_array_elements_text
    jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text
    jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_keys
    jsonb_path_exists jsonb_path_match jsonb_path_query jsonb_path_query_array
    jsonb_path_query_first jsonb_populate_record jsonb_populate_recordset jsonb_pretty jsonb_set
    jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_to_tsvector jsonb_typeof json_agg
    json_array_elements json_array_elements_text json_build_array json_build_object json_each
    json_each_text json_extract_path json_extract_path_text json_group_array json_group_object
    json_object_keys json_populate_record json_populate_recordset json_strip_nulls json_to_record
    json_to_recordset json_tree json_typeof justify_days justify_hours justify_interval lcm
    lower_inc lower_inf make_date make_interval make_time make_timestamp make_timestamptz masklen
    min_scale mode netmask network num_nonnulls num_nulls numnode numrange obj_description overlaps
    parse_ident percent_rank pg_backend_pid pg_column_size pg_database_size pg_encoding_to_char
    pg_get_constraintdef pg_get_expr pg_get_functiondef pg_get_indexdef pg_get_serial_sequence
    pg_get_userbyid pg_get_viewdef pg_indexes_size pg_is_in_recovery pg_postmaster_start_time
    pg_relation_size pg_size_pretty pg_table_is_visible pg_table_size pg_tablespace_size
    pg_total_relation_size pg_typeof phraseto_tsquery plainto_tsquery quote_ident quote_literal
    quote_nullable range_agg range_merge regexp_matches regexp_split_to_array regexp_split_to_table
    row_to_json scale set_bit set_byte setseed setweight shobj_description similarity sind
    statement_timestamp string_to_array string_to_table strip strpos to_ascii to_json to_jsonb
    to_regclass to_regproc to_regtype to_timestamp to_tsquery to_tsvector transaction_timestamp
    trim_scale trunc ts_headline ts_rank ts_rank_cd tsrange tstzrange txid_current_if_assigned
    upper_inc upper_inf websearch_to_tsquery width_bucket word_similarity connection_id charset
    coercibility collation export_set field find_in_set found_rows from_days get_format inet_aton
    inet_ntoa interval is_ipv4 is_ipv6 is_uuid json_contains json_contains_path json_depth
    json_length json_merge json_merge_patch json_merge_preserve json_overlaps json_pretty json_quote
    json_search json_storage_size json_type json_unquote json_valid last_insert_id maketime makedate
    make_set microsecond name_const octet_length ord period_add period_diff quote row_count schema
    sec_to_time soundex strcmp subdate subtime sysdate time_format time_to_sec to_base64 to_days
    to_seconds uncompress unhex utc_date utc_time utc_timestamp uuid_short uuid_to_bin bin_to_uuid
    validate_password_strength weekofyear weight_string yearweek changes char glob hex ifnull iif
    instr julianday last_insert_rowid likelihood likely nullif printf randomblob sqlite_source_id
    sqlite_version strftime substring timediff total total_changes typeof unicode unixepoch unlikely
    zeroblob bm25 highlight snippet ascii charindex choose col_length col_name columnproperty
    concat_ws databasepropertyex datalength datename datepart db_id db_name difference eomonth
    error_line error_message error_number error_severity error_state getansinull getutcdate
    grouping_id hashbytes host_name ident_current ident_incr ident_seed index_col isdate isjson
    isnumeric left len nchar newid object_definition object_id object_name object_schema_name
    objectproperty original_login parsename patindex quotename replicate rowcount_big schema_id
    schema_name scope_identity serverproperty sessionproperty space str string_escape stuff
    suser_name suser_sname switchoffset sysdatetime sysutcdatetime system_user todatetimeoffset
    try_cast try_convert try_parse type_id type_name user_id user_name add_months dump empty_blob
    greatest lengthb months_between nls_upper nls_lower numtodsinterval numtoyminterval nvl2
    ora_hash rawtohex remainder rowidtochar sys_context sys_guid tz_offset userenv vsize bitand
    bitor bitxor bitnot div divide multiply subtract mod minus plus negate truncate uniq quantile
    topk list_aggregate list_contains list_distinct list_sort struct_pack struct_extract row unnest
    range
"""

_REACHING: Final = in_order(
    "ai_ a_i_ ml_ generate_text generate_embedding generate_table to_file try_to_file"
)
"""How names begin of functions that the parser knows, and that ask a model or make a file."""

_SERVERS: Final = listed("pg_catalog safe net hll_count dbms_random dbms_lob utl_raw utl_match")
"""Schemas and packages that are the server's own; a function in another one is somebody's, whatever
its name is."""


def is_pure(name: str) -> bool:
    """Whether a function is known to only compute, by its name in small letters (`schema.name`
    where it has one)."""
    schema, _, last = name.rpartition(".")
    if schema and schema not in _SERVERS:
        return False
    return last in _known()


@cache
def _known() -> frozenset[str]:
    """What is listed here, and what the parser knows as a function of some dialect."""
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect

    known = {*_LISTED.split(), *[name.lower() for name in exp.FUNCTION_BY_NAME]}
    for dialect in DIALECTS:
        known |= {name.lower() for name in Dialect.get_or_raise(dialect).parser_class.FUNCTIONS}
    return frozenset(
        [name for name in known if not name.startswith(_REACHING) and not effect_of(name, "")]
    )
