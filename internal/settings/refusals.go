package settings

import (
	"errors"
	"fmt"
)

// ErrSetting means: with this setting of the session or the server a promise of the toolkit cannot hold. The
// detail is a [SettingError].
var ErrSetting = errors.New("onerow: a promise cannot hold with this setting")

// SettingError is the detail of [ErrSetting].
type SettingError struct {
	// Setting is a system variable, or a parameter of the data source name.
	Setting string
	// Value is what it is set to.
	Value string
	// Why says which promise cannot hold.
	Why string
	// Fix says what to change.
	Fix string
}

// Error names the setting, its value, what is wrong with it and what to change.
func (e *SettingError) Error() string {
	return fmt.Sprintf("onerow: %s is %q: %s; %s", e.Setting, e.Value, e.Why, e.Fix)
}

// Is makes errors.Is(err, ErrSetting) true.
func (e *SettingError) Is(target error) bool { return target == ErrSetting }

// Refusal is what there is to say about a setting, whatever its name and value.
type Refusal struct{ why, fix string }

// Of says it of one.
func (r Refusal) Of(setting, value string) error {
	return &SettingError{Setting: setting, Value: value, Why: r.why, Fix: r.fix}
}

// The refusals of what a data source name may say, too.
var (
	AutocommitOff = Refusal{
		"what is written outside of a transaction would be lost silently when the connection is closed",
		"take autocommit out of the data source name, or set autocommit = 1 on the server; pool.Open does so itself",
	}
	ReadUncommitted = Refusal{
		"a decision would be taken on rows that are never committed",
		"set READ-COMMITTED or REPEATABLE-READ; pool.Open sets READ-COMMITTED if the data source name says nothing",
	}
	UnsafeInterpolation = Refusal{
		"with interpolateParams an argument could end its quotes in this character set and be run as SQL",
		"set charset=utf8mb4, or interpolateParams=false, in the data source name",
	}
	EmptyIsNull = Refusal{
		"the server takes an empty text for none: a column that must not be NULL refuses what the toolkit writes, and no comparison with it is true",
		"take EMPTY_STRING_IS_NULL out of sql_mode",
	}
	PaddedChars = Refusal{
		"a key in a CHAR column whose collation has NO PAD, as MySQL's default has, equals no shorter text: its row is not found by it",
		"take PAD_CHAR_TO_FULL_LENGTH out of sql_mode",
	}
	MixedCharsets = Refusal{
		"the server converts what is sent to it, bytes too: what the other character set lacks is stored as a question mark, or comes back as one",
		"set charset=utf8mb4 in the data source name, and none of the variables: it sets all three",
	}
	BinaryCharset = Refusal{
		"the server takes no text for what it is: MySQL makes no JSON of it, and a column with another character set gets its bytes",
		"set charset=utf8mb4 in the data source name",
	}
	Unlogged = Refusal{
		"no replica hears of what is written, and it is gone when one of them is promoted",
		"set sql_log_bin = 1",
	}
	StoppedClock = Refusal{
		"leases and expiries are written with the session's clock, and it stands still",
		"set timestamp = DEFAULT",
	}
)

var (
	chainedCommits = Refusal{
		"COMMIT would begin the next transaction, and what is written in it be lost silently when the connection is closed",
		"set completion_type = NO_CHAIN",
	}
	uniqueUnchecked = Refusal{
		"the server may skip the check of unique indexes, and they are what decides",
		"set unique_checks = 1",
	}
	safeUpdates = Refusal{
		"the server refuses statements that name their key, where it would scan a small table instead (error 1175)",
		"set sql_safe_updates = 0 for the application; it is meant for people at a prompt",
	}
	statementBinlog = Refusal{
		"the server refuses writes at READ COMMITTED with it (error 1665)",
		"set binlog_format = ROW or MIXED on the server, or REPEATABLE-READ in the data source name",
	}
	staleReads = Refusal{
		"a node of the cluster answers before it has applied what was committed on another: a row that was just written is not there",
		"open the pool with pool.Open, which sets it; where all requests of an owner go to one node, say so by setting it in pool.Open's data source name",
	}
	lockedInPart = Refusal{
		"other nodes of this cluster take writes too and do not see its row locks, so a row could come below one that is deleted there",
		"let the plan say cluster: true, also where one node takes all writes for the time being; live.Verify then names the columns to add",
	}
	torn = Refusal{
		"a node of Galera that aborts a transaction for another node's may run the rest of its packet outside of it, and answer that all was committed",
		"open the pool with pool.Open, which sends each statement by itself there, or with pool.Guard",
	}
	readOnly = Refusal{
		"the server takes no writes: it is a replica, or was demoted",
		"connect to the primary",
	}
	selectLimit = Refusal{
		"the server leaves out rows of a result and does not say so: marks, jobs and whole migrations are passed over",
		"set sql_select_limit = 18446744073709551615, which is its default",
	}
	bigSelects = Refusal{
		"the server refuses joins by a guess of how many rows they read (error 1104)",
		"set sql_big_selects = 1; a max_join_size sets it to 0",
	}
	otherEngine = Refusal{
		"the server makes tables of another engine than they ask for, and one without transactions keeps no promise",
		"set enforce_storage_engine = InnoDB, or nothing, for the application",
	}
)
