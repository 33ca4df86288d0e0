package racetest

import (
	"database/sql"
	"os"
)

// EnvLevel is the name of the environment variable with the only level that explorations run at, for a
// push has one level on each engine.
const EnvLevel = "ONEROW_LEVEL"

// Levels are READ COMMITTED and REPEATABLE READ, or the one of them that [EnvLevel] names.
func Levels() []sql.IsolationLevel {
	both := []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead}
	only := os.Getenv(EnvLevel)
	for _, level := range both {
		if level.String() == only {
			return []sql.IsolationLevel{level}
		}
	}
	if only != "" {
		panic(EnvLevel + "=" + only + ": it is " + both[0].String() + " or " + both[1].String())
	}
	return both
}
