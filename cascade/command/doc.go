// Package command is the command line of the cascade: cmd/cascade-worker says what is promised of it.
package command
