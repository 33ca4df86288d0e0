package mysqlerr

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
)

func TestClassify(t *testing.T) {
	number := func(n uint16) error { return &mysql.MySQLError{Number: n, Message: "x' for key 'PRIMARY'"} }
	option := func(name string) error {
		return &mysql.MySQLError{Number: 1290, Message: "Der MySQL-Server läuft mit der Option " + name + " und kann diese Anweisung deswegen nicht ausführen"}
	}
	for _, c := range []struct {
		name     string
		err      error
		class    Class
		again    bool // may a transaction that met it before COMMIT run again?
		rejected bool // as an answer to COMMIT: was nothing committed?
	}{
		{"nil", nil, None, false, false},
		{"duplicate", number(1062), Duplicate, false, false},
		{"duplicate, wrapped", fmt.Errorf("insert: %w", number(1062)), Duplicate, false, false},
		{"deadlock", number(1213), RolledBack, true, true},
		{"certifier", number(3101), RolledBack, true, true},
		{"error during COMMIT", number(1180), RolledBack, true, true},
		{"snapshot conflict", number(1020), RolledBack, true, true},
		{"deadlock at AUTO_INCREMENT", number(1467), RolledBack, true, true},
		{"lock wait timeout", number(1205), TimedOut, true, true},
		{"lock table full", number(1206), Overflowed, false, false},
		{"node not ready", number(1047), NotHere, true, true},
		{"read only", option("--read-only"), NotHere, true, true},
		{"super read only, wrapped", fmt.Errorf("insert: %w", option("--super-read-only")), NotHere, true, true},
		{"read only, by a variable's name", option("read_only"), NotHere, true, true},
		{"a file below secure_file_priv", option("--secure-file-priv"), Fatal, false, false},
		{"no privileges", option("--skip-grant-tables"), Fatal, false, false},
		{"read only transaction", number(1792), NotHere, true, true},
		{"read only mode", number(1836), NotHere, true, true},
		{"too many connections", number(1040), NotHere, true, true},
		{"offline mode", number(3032), NotHere, true, true},
		{"offline mode (MySQL 9)", number(6400), NotHere, true, true},
		{"causal read refused", number(3796), NotHere, true, true},
		{"causal read failed", number(3797), NotHere, true, true},
		{"no host", fmt.Errorf("%w: %w", ErrElsewhere, number(1045)), NotHere, true, true},
		{"packet too large", number(1153), TooLarge, false, false},
		{"packet too large for the driver", mysql.ErrPktTooLarge, TooLarge, false, false},
		{"shutdown", number(1053), ConnectionLost, true, false},
		{"killed (MariaDB)", number(1927), ConnectionLost, true, false},
		{"killed (MySQL)", number(3169), ConnectionLost, true, false},
		{"KILL QUERY", number(1317), Interrupted, false, false},
		{"max_statement_time (MariaDB)", number(1969), Interrupted, false, false},
		{"max_execution_time (MySQL)", fmt.Errorf("read: %w", number(3024)), Interrupted, false, false},
		{"syntax", number(1064), Fatal, false, false},
		{"bad connection", driver.ErrBadConn, NotSent, true, true},
		{"invalid connection", mysql.ErrInvalidConn, ConnectionLost, true, false},
		{"end of file", fmt.Errorf("read: %w", io.ErrUnexpectedEOF), ConnectionLost, true, false},
		{"refused", &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, ConnectionLost, true, false},
		{"cancelled", context.Canceled, Fatal, false, false},
		{"dial timeout", &net.OpError{Op: "dial", Net: "tcp", Err: context.DeadlineExceeded}, ConnectionLost, true, false},
		{"deadline", fmt.Errorf("begin: %w", context.DeadlineExceeded), Fatal, false, false},
		{"something else", errors.New("1213"), Fatal, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Classify(c.err); got != c.class {
				t.Errorf("Classify = %d, want %d", got, c.class)
			}
			if got := MayRunAgain(c.err); got != c.again {
				t.Errorf("MayRunAgain = %v, want %v", got, c.again)
			}
			ends := c.again || c.class == Overflowed || c.class == TooLarge
			if got := EndsTransaction(c.err); got != ends {
				t.Errorf("EndsTransaction = %v, want %v", got, ends)
			}
			if got := RefusedCommit(c.err); got != c.rejected {
				t.Errorf("RefusedCommit = %v, want %v", got, c.rejected)
			}
		})
	}
}

// TestAnswers: what a function finds out is told from what kept it from finding out.
func TestAnswers(t *testing.T) {
	duplicate := &mysql.MySQLError{Number: 1062}
	for _, err := range []error{nil, errors.New("the name is taken"), duplicate, fmt.Errorf("the name is taken: %w", duplicate)} {
		if !Answers(err) {
			t.Errorf("%v is an answer", err)
		}
	}
	for _, err := range []error{&mysql.MySQLError{Number: 1045}, &mysql.MySQLError{Number: 1290, Message: "--read-only"}, &mysql.MySQLError{Number: 1290}, &mysql.MySQLError{Number: 1317}, &mysql.MySQLError{Number: 1213}, driver.ErrBadConn,
		mysql.ErrInvalidConn, &net.OpError{Op: "dial"}, context.Canceled, fmt.Errorf("x: %w", context.DeadlineExceeded)} {
		if Answers(err) {
			t.Errorf("%v is no answer", err)
		}
	}
}

// TestFromDriver: only what no call to elsewhere can return.
func TestFromDriver(t *testing.T) {
	for _, err := range []error{&mysql.MySQLError{Number: 1064}, fmt.Errorf("x: %w", driver.ErrBadConn), mysql.ErrInvalidConn} {
		if !FromDriver(err) {
			t.Errorf("%v is not the driver's", err)
		}
	}
	for _, err := range []error{nil, io.EOF, &net.OpError{Op: "dial"}, context.Canceled} {
		if FromDriver(err) {
			t.Errorf("%T is the driver's", err)
		}
	}
}

// FuzzClassify: no error, however wrapped, may panic; nothing that is not one
// of the known numbers may count as "run it again", whatever its text says.
func FuzzClassify(f *testing.F) {
	f.Add(uint16(1062), "Duplicate entry 'x' for key 'PRIMARY'", 1)
	f.Add(uint16(1213), "Deadlock found", 0)
	f.Add(uint16(1064), "Deadlock found when trying to get lock; 1213", 3)
	f.Fuzz(func(t *testing.T, number uint16, text string, depth int) {
		var err error = &mysql.MySQLError{Number: number, Message: text}
		want := Classify(err)
		for range depth % 8 {
			err = errors.Join(fmt.Errorf("%s: %w", text, err))
		}
		if got := Classify(err); got != want {
			t.Fatalf("wrapping changed the class from %d to %d", want, got)
		}
		if want == RolledBack && !MayRunAgain(err) || RefusedCommit(err) && !MayRunAgain(err) {
			t.Fatalf("%d: a refused COMMIT must be one that may run again", number)
		}
		if got := Classify(errors.New(text)); got != Fatal {
			t.Fatalf("the text %q was parsed: class %d", text, got)
		}
	})
}
