"""The functions that a read may call: those of MariaDB and MySQL that compute, and nothing else.

Left out are those that wait, lock, read files, keep state in the session, number things, or tell of accounts and of the
server; and every stored function, for what it does is its author's secret. A list of what is allowed, so that a newer
server brings no surprise.
"""

from __future__ import annotations

NUMBERS = """
abs acos asin atan atan2 bit_count ceil ceiling conv cos cot crc32 crc32c degrees exp floor format greatest
least ln log log10 log2 mod pi pow power radians rand round sign sin sqrt tan truncate
"""
TEXTS = """
ascii bin bit_length char char_length character_length charset chr coercibility collation concat concat_ws elt
export_set field find_in_set from_base64 hex insert instr lcase left length lengthb locate lower lpad ltrim
make_set mid natural_sort_key oct octet_length ord position quote regexp_instr regexp_like regexp_replace
regexp_substr repeat replace reverse right rpad rtrim soundex space strcmp substr substring substring_index
to_base64 to_char trim ucase unhex upper weight_string
"""
TIMES = """
adddate addtime convert_tz curdate current_date current_time current_timestamp curtime date date_add date_format
date_sub datediff day dayname dayofmonth dayofweek dayofyear extract from_days from_unixtime get_format hour
last_day localtime localtimestamp makedate maketime microsecond minute month monthname now period_add
period_diff quarter sec_to_time second str_to_date subdate subtime sysdate time time_format time_to_sec timediff
timestamp timestampadd timestampdiff to_days to_seconds unix_timestamp utc_date utc_time utc_timestamp week
weekday weekofyear year yearweek
"""
CHOICES = "case cast coalesce convert if ifnull interval isnull nullif nvl nvl2"
TOGETHER = """
any_value avg bit_and bit_or bit_xor count cume_dist dense_rank first_value group_concat grouping lag last_value
lead max median min nth_value ntile percent_rank percentile_cont percentile_disc rank row_number std stddev
stddev_pop stddev_samp sum var_pop var_samp variance
"""
DOCUMENTS = """
json_array json_array_append json_array_insert json_array_intersect json_arrayagg json_compact json_contains
json_contains_path json_depth json_detailed json_equals json_exists json_extract json_insert json_keys
json_length json_loose json_merge json_merge_patch json_merge_preserve json_normalize json_object
json_object_filter_keys json_object_to_array json_objectagg json_overlaps json_pretty json_query json_quote
json_remove json_replace json_search json_set json_storage_size json_table json_type json_unquote json_valid
json_value
"""
OTHERS = """
against bin_to_uuid database inet6_aton inet6_ntoa inet_aton inet_ntoa is_ipv4 is_ipv4_compat is_ipv4_mapped
is_ipv6 is_uuid match md5 point schema sha sha1 sha2 st_astext st_contains st_distance st_distance_sphere
st_geomfromtext st_intersects st_within st_x st_y uuid_to_bin version
"""
FUNCTIONS = frozenset(" ".join((NUMBERS, TEXTS, TIMES, CHOICES, TOGETHER, DOCUMENTS, OTHERS)).split())
# What else may stand before a parenthesis: words of the grammar, and types with a length.
_WORDS = """
against all and any as between bigint binary bit by case char character columns cross datetime dec decimal
distinct div double else escape except exists float from having ignore in index int integer intersect is join
key lateral like match mediumint mod nchar nested not numeric nvarchar of on or over partition path real regexp
rlike row select signed smallint some straight_join then time timestamp tinyint union unsigned using varbinary
varchar when where with within xor year
"""
WORDS = frozenset(_WORDS.split())
