// Package cluster has the tests of the whole house on clusters whose every node takes writes: MariaDB Galera
// and MySQL Group Replication. They are built with the tag cluster and run by make test-galera and make
// test-group.
//
// TestMain starts one cluster for all tests, of the kind that ONEROW_CLUSTER names; without it they fail.
// Each test has a schema of its own, opens a pool for each node, and ends by comparing its tables on all
// nodes, once each node has applied what the others wrote.
package cluster
