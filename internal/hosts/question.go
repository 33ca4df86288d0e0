package hosts

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

var errNoText = errors.New("onerow: the driver cannot run a text on a connection")

// Each reads rows of two texts.
func Each(ctx context.Context, queryer driver.QueryerContext, text string, take func(name, value string)) (err error) {
	rows, err := queryer.QueryContext(ctx, text, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, 2)
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		take(fmt.Sprintf("%s", row[0]), fmt.Sprintf("%s", row[1]))
	}
}

// IsOn asks a question whose answer is 0, 1 or no row.
func IsOn(ctx context.Context, conn driver.Conn, question string) (bool, error) {
	queryer, ok := conn.(driver.QueryerContext)
	if !ok {
		return true, nil
	}
	rows, err := queryer.QueryContext(ctx, question, nil)
	if err != nil {
		return false, err
	}
	row := make([]driver.Value, 1)
	if err := errors.Join(rows.Next(row), rows.Close()); err != nil {
		return false, err
	}
	return fmt.Sprintf("%s", row[0]) != "0" && row[0] != int64(0), nil
}

// asked is the one row of a text's last result.
func asked(ctx context.Context, conn driver.Conn, text string) ([]string, error) {
	queryer, ok := conn.(driver.QueryerContext)
	if !ok {
		return nil, errNoText
	}
	rows, err := queryer.QueryContext(ctx, text, nil)
	if err != nil {
		return nil, err
	}
	values := make([]driver.Value, len(rows.Columns()))
	err = rows.Next(values)
	if err == nil {
		for err == nil { // to the end, for an error may be there
			err = rows.Next(make([]driver.Value, len(values)))
		}
	}
	if err == io.EOF { //nolint:errorlint // as drivers return it
		err = nil
	}
	if err = errors.Join(err, rows.Close()); err != nil {
		return nil, err
	}
	row := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case []byte:
			row[i] = string(v)
		default:
			row[i] = fmt.Sprint(v)
		}
	}
	return row, nil
}
