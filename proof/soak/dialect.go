package main

// dialect is how an engine says what has to do with replication.
type dialect struct {
	flags    []string // of every server, beside server-id
	semisync []string // of every server of a semi-synchronous site
	// follow makes a replica of the server at 127.0.0.1 and a port, for good.
	follow string
	// semiOn comes before the first write of a primary, and semiOff when it is one no more.
	semiOn, semiOff string
	// retire comes before a primary follows another one: of itself it knows only what it has received.
	retire string
	// writable and readOnly: the load's account has no right to write to a server that is read only.
	writable, readOnly string
	// received is what a replica has received, its relay log included; written what a primary has written.
	received, written string
	// covers says whether the first position has all that the second one has.
	covers string
	// await waits until a replica has applied what a position says; 0: it has.
	await string
	// acknowledging is the status variable with the number of semi-synchronous replicas, alone that of
	// commits that nobody acknowledged.
	acknowledging, alone string
}

var mysqlDialect = dialect{
	flags: []string{"--log-bin=bin", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--relay-log=relay", "--relay-log-recovery=ON",
		"--skip-replica-start=ON", "--replica-net-timeout=6", "--read-only=ON", "--super-read-only=ON"},
	semisync: []string{"--plugin-load-add=semisync_source.so", "--plugin-load-add=semisync_replica.so", "--loose-rpl-semi-sync-replica-enabled=ON",
		"--loose-rpl-semi-sync-source-timeout=4294967295", "--loose-rpl-semi-sync-source-wait-no-replica=ON",
		"--loose-rpl-semi-sync-source-wait-point=AFTER_SYNC"},
	follow: `CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = %d, SOURCE_USER = 'replica', SOURCE_PASSWORD = 'replica',
  SOURCE_AUTO_POSITION = 1, SOURCE_CONNECT_RETRY = 1, SOURCE_RETRY_COUNT = 100000, GET_SOURCE_PUBLIC_KEY = 1`,
	semiOn:   `SET GLOBAL rpl_semi_sync_source_enabled = ON`,
	semiOff:  `SET GLOBAL rpl_semi_sync_source_enabled = OFF`,
	retire:   `DO 0`,
	writable: `SET GLOBAL super_read_only = OFF, read_only = OFF`,
	readOnly: `SET GLOBAL super_read_only = ON`,
	received: `SELECT CONCAT(@@GLOBAL.gtid_executed, ',', received_transaction_set) FROM performance_schema.replication_connection_status WHERE channel_name = ''`,
	written:  `SELECT @@GLOBAL.gtid_executed`,
	covers:   `SELECT GTID_SUBSET(?, ?)`,
	await:    `SELECT WAIT_FOR_EXECUTED_GTID_SET(?, 300)`,

	acknowledging: "Rpl_semi_sync_source_clients", alone: "Rpl_semi_sync_source_no_tx",
}

// mariaDialect is MariaDB's. There is one replication domain, so that a position of MariaDB's is
// 0-server-number.
var mariaDialect = dialect{
	flags: []string{"--log-bin=bin", "--log-slave-updates", "--binlog-format=ROW", "--gtid-strict-mode=ON", "--relay-log=relay",
		"--skip-slave-start", "--slave-net-timeout=6", "--read-only=ON"},
	semisync: []string{"--rpl-semi-sync-slave-enabled=ON", "--rpl-semi-sync-master-timeout=4294967295", "--rpl-semi-sync-master-wait-no-slave=ON",
		"--rpl-semi-sync-master-wait-point=AFTER_SYNC"},
	follow: `CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = %d, MASTER_USER = 'replica', MASTER_PASSWORD = 'replica',
  MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1`,
	semiOn:   `SET GLOBAL rpl_semi_sync_master_enabled = ON`,
	semiOff:  `SET GLOBAL rpl_semi_sync_master_enabled = OFF`,
	retire:   `SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos`,
	writable: `SET GLOBAL read_only = OFF`,
	readOnly: `SET GLOBAL read_only = ON`,
	received: `SHOW REPLICA STATUS`, // its column Gtid_IO_Pos
	written:  `SELECT @@GLOBAL.gtid_binlog_pos`,
	covers:   `SELECT SUBSTRING_INDEX(?, '-', -1) + 0 <= SUBSTRING_INDEX(?, '-', -1) + 0`,
	await:    `SELECT MASTER_GTID_WAIT(?, 300)`,

	acknowledging: "Rpl_semi_sync_master_clients", alone: "Rpl_semi_sync_master_no_tx",
}
