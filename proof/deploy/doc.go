// Package deploy holds the files of deploy/ against the programs that they start and the metrics that those
// export. All of it is tests:
//
//	go test -C proof/deploy ./...
//
// Each program is built by the line of its Dockerfile and started with the arguments and the environment of
// the file that is checked, on a real database. What Prometheus would scrape is scraped, and each expression
// of an alert or a dashboard is evaluated over it by Prometheus's own engine. Each check has its mistakes
// planted beside it, in a copy of the file, and must find them.
//
// Not checked: that an image can be built or a container runs, for nothing here needs Docker; that a cluster
// admits the objects; that Grafana draws the panels.
//
// Open this package when a file of deploy/ says something that no check of it reads.
package deploy
