package main

// setting is one way in which a server or a data source name can differ from what the suites are comfortable
// with.
type setting struct {
	name string
	// on is the engine that knows it, and the beginning of the versions: "MariaDB", "MariaDB 11", "MySQL".
	// Empty: all.
	on string
	// server are flags of the server; params is added to every data source name; schema to every CREATE
	// DATABASE.
	server []string
	params string
	schema string
	// knows is a variable that the server must have. Empty: none.
	knows string
	// global are assignments for all sessions, as in "sql_select_limit = 1". A pool of pool.Open is right
	// under them, where any other is refused.
	global []string
	// skip are tests that cannot run so for reasons of their own, and why says which; more are those that
	// only the whole suites have.
	skip, more, why string
	// refused is the setting that pool.Check must name. Empty: everything works.
	refused string
}

const (
	readsLock    = "a read within a transaction locks what it reads, so the test's own reads do, and calls that it wants apart wait"
	reading      = "Cost|Apart|Joined|Snapshot|Since|TestSlowRecalculation|TestNoMarkIsLost|TestWritesLockNothingElse|TestOptimistic|TestOperatorSees|TestReusedIDUnseen|TestUpdateLocksLate"
	textsAreUTF8 = "the test sends texts in UTF-8, which this connection says is something else"
)

// settings are what is tried. Each either works, or is refused at once.
var settings = []setting{
	{name: "the server's defaults"},
	{name: "innodb_rollback_on_timeout", server: []string{"--innodb-rollback-on-timeout=ON"}},
	{name: "innodb_snapshot_isolation", on: "MariaDB 10.11", server: []string{"--loose-innodb-snapshot-isolation=ON"}},
	{name: "innodb_snapshot_isolation off", on: "MariaDB 11", server: []string{"--loose-innodb-snapshot-isolation=OFF"}},
	{name: "autocommit=0", params: "autocommit=0", refused: "autocommit"},
	{name: "READ UNCOMMITTED", params: "transaction_isolation='READ-UNCOMMITTED'", refused: "transaction_isolation", on: "MySQL"},
	{name: "READ UNCOMMITTED", params: "tx_isolation='READ-UNCOMMITTED'", refused: "tx_isolation", on: "MariaDB 10"},
	{name: "READ UNCOMMITTED", params: "tx_isolation='READ-UNCOMMITTED'", refused: "transaction_isolation", on: "MariaDB 11"},
	{name: "SERIALIZABLE", params: "transaction_isolation='SERIALIZABLE'", on: "MySQL", skip: "TestJoined", more: reading, why: readsLock},
	{name: "SERIALIZABLE", params: "tx_isolation='SERIALIZABLE'", on: "MariaDB", skip: "TestJoined", more: reading, why: readsLock},
	{name: "sql_mode empty", params: "sql_mode=''"},
	{name: "sql_mode ANSI_QUOTES", params: "sql_mode='ANSI_QUOTES,STRICT_TRANS_TABLES'"},
	{name: "sql_mode NO_BACKSLASH_ESCAPES", params: "sql_mode='NO_BACKSLASH_ESCAPES,STRICT_TRANS_TABLES'",
		more: "TestServerSize", why: "the test makes statements large by what has to be escaped"},
	{name: "sql_mode TRADITIONAL", params: "sql_mode='TRADITIONAL'"},
	{name: "binlog_format STATEMENT", server: []string{"--log-bin=b", "--server-id=1", "--binlog-format=STATEMENT"}, refused: "binlog_format"},
	{name: "binlog_format MIXED", on: "MariaDB", server: []string{"--log-bin=b", "--server-id=1", "--binlog-format=MIXED"}},
	{name: "binlog_format MIXED", on: "MySQL", server: []string{"--log-bin=b", "--server-id=1", "--binlog-format=MIXED"},
		more: "TestFullTable|TestServerStateOfOneJob", why: "GTIDs allow no writes to the test's table in memory"},
	{name: "charset utf8", params: "charset=utf8mb3&collation=utf8_general_ci", more: "TestHostileNames", why: textsAreUTF8},
	{name: "charset latin1", params: "charset=latin1&collation=latin1_swedish_ci", skip: "TestForeignSchema",
		more: "TestHostileNames|TestDrift|TestGoneRoot|TestPoison|TestSweepColumns", why: textsAreUTF8},
	{name: "charset gbk, interpolated", params: "charset=gbk&interpolateParams=true", refused: "character_set_client"},
	{name: "charset gbk", params: "charset=gbk&interpolateParams=false&collation=gbk_chinese_ci",
		skip: "TestOneName|TestKinds|TestForeignSchema|TestLife|TestByTime|TestClaim",
		more: "TestDrift|TestGoneRoot|TestPoison|TestSweepColumns|Cost|Naive|TestLastUnknown|TestOneKey|TestModel|TestHostileNames|TestSettings|TestServerSize|TestUnknownAfterAWait", why: textsAreUTF8 + ", or asks for interpolateParams"},
	{name: "utf8mb3 databases", server: []string{"--character-set-server=utf8mb3"}, schema: "CHARACTER SET utf8mb3"},
	{name: "latin1 databases", server: []string{"--character-set-server=latin1"}, schema: "CHARACTER SET latin1",
		more: "TestDryRunFixtures", why: "the test reads keys as bytes, and takes them for UTF-8"},
	{name: "lower_case_table_names=1", server: []string{"--lower-case-table-names=1"}},
	{name: "explicit_defaults_for_timestamp=0", server: []string{"--explicit-defaults-for-timestamp=OFF"}},
	{name: "max_allowed_packet 1 MiB", server: []string{"--max-allowed-packet=1M"}},
	{name: "time_zone +13:00", params: "time_zone='%2B13:00'"}, // MariaDB knows none further east
	{name: "time_zone -11:00", params: "time_zone='-11:00'"},
	{name: "innodb_lock_wait_timeout 1", params: "innodb_lock_wait_timeout=1"},
	{name: "auto_increment_increment 3", params: "auto_increment_increment=3&auto_increment_offset=2", skip: "TestActions$",
		more: "TestTakenIndex|TestCosts|TestJobIDReused", why: "the test names rows by the ids that they have without it"},
	{name: "sql_safe_updates=1", params: "sql_safe_updates=1", refused: "sql_safe_updates"},
	{name: "innodb_native_foreign_keys", server: []string{"--loose-innodb-native-foreign-keys=ON"}, knows: "innodb_native_foreign_keys"},
	{name: "innodb_native_foreign_keys off", server: []string{"--loose-innodb-native-foreign-keys=OFF"}, knows: "innodb_native_foreign_keys"},
	{name: "completion_type CHAIN", global: []string{"completion_type = CHAIN"}, refused: "completion_type"},
	{name: "completion_type RELEASE", global: []string{"completion_type = 'RELEASE'"}, refused: "completion_type"},
	{name: "sql_select_limit 1", global: []string{"sql_select_limit = 1"}, refused: "sql_select_limit"},
	{name: "max_join_size 1", global: []string{"max_join_size = 1"}, refused: "sql_big_selects"},
	{name: "sql_mode PAD_CHAR_TO_FULL_LENGTH", global: []string{"sql_mode = 'PAD_CHAR_TO_FULL_LENGTH,STRICT_TRANS_TABLES'"}, refused: "sql_mode"},
	{name: "sql_mode EMPTY_STRING_IS_NULL", on: "MariaDB", global: []string{"sql_mode = 'EMPTY_STRING_IS_NULL,STRICT_TRANS_TABLES'"}, refused: "sql_mode"},
	{name: "sql_auto_is_null=1", global: []string{"sql_auto_is_null = 1"}, refused: "sql_auto_is_null"},
	{name: "foreign_key_checks=0", global: []string{"foreign_key_checks = 0"}, refused: "foreign_key_checks"},
	{name: "unique_checks=0", global: []string{"unique_checks = 0"}, refused: "unique_checks"},
	{name: "sql_safe_updates=1, all", global: []string{"sql_safe_updates = 1"}, refused: "sql_safe_updates"},
	{name: "character_set_connection utf16", params: "character_set_connection=utf16", refused: "character_set_connection"},
	{name: "character_set_connection latin1", params: "character_set_connection=latin1", refused: "character_set_connection"},
	{name: "character_set_results latin1", params: "character_set_results=latin1", refused: "character_set_results"},
	{name: "charset binary", params: "charset=binary", refused: "character_set_connection"},
	{name: "handshake ignored", on: "MariaDB", server: []string{"--loose-character-set-client-handshake=OFF", "--character-set-server=latin1"},
		skip: "TestForeignSchema|TestOneName|TestKinds", why: textsAreUTF8},
	{name: "a clock that stands", params: "timestamp=1", refused: "timestamp"},
	{name: "sql_mode, the odd ones", params: "sql_mode='PIPES_AS_CONCAT,HIGH_NOT_PRECEDENCE,NO_UNSIGNED_SUBTRACTION,REAL_AS_FLOAT,IGNORE_SPACE,NO_AUTO_VALUE_ON_ZERO,STRICT_TRANS_TABLES'"},
	{name: "sql_mode TIME_TRUNCATE_FRACTIONAL", on: "MySQL", params: "sql_mode='TIME_TRUNCATE_FRACTIONAL,STRICT_TRANS_TABLES'"},
	{name: "sql_mode ORACLE", on: "MariaDB", params: "sql_mode='ORACLE,SIMULTANEOUS_ASSIGNMENT,TIME_ROUND_FRACTIONAL,STRICT_TRANS_TABLES'"},
	{name: "small numbers", params: "group_concat_max_len=4&div_precision_increment=0&max_sort_length=8&max_error_count=0&lock_wait_timeout=5&eq_range_index_dive_limit=1",
		skip: "TestRecheck", why: "the test compares what it has concatenated itself"},
	{name: "default_storage_engine MyISAM", params: "default_storage_engine=MyISAM&sql_notes=0&sql_quote_show_create=0&updatable_views_with_limit=0&big_tables=1&sql_buffer_result=1"},
	{name: "readTimeout 2s", params: "readTimeout=2s&writeTimeout=2s"},
}
