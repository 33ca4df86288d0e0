// Package floortest is what the tests of onerow, pool and internal/guard share: accounts between which
// nothing may get lost, pools, and servers with settings of their own.
//
// Open this package when a test of transactions needs another pool, or a server with another setting.
package floortest
