package migrations

import (
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/onerow/onerow/internal/ident"
)

// SQL returns all migrations as statements for another tool: up makes the toolkit's tables and records them,
// so that [Status] and a worker find them applied; down removes both. Each statement ends with a semicolon at
// the end of a line, has no other one, and may run twice. The comments for goose are comments to all others.
func SQL() (up, down string, err error) {
	files, err := fs.Glob(FS, "*.sql")
	if err != nil {
		return "", "", fmt.Errorf("migrations: %w", err)
	}
	table := ident.Quote(TableName)
	record := func(version int64) string {
		return strings.Replace(fmt.Sprintf(sqlInsertVersion, table), "?", strconv.FormatInt(version, 10), 1) + ";\n"
	}
	up, down = fmt.Sprintf(sqlCreateTable, table)+";\n"+record(0), "DROP TABLE IF EXISTS "+table+";\n"
	for _, name := range files {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return "", "", fmt.Errorf("migrations: %w", err)
		}
		text, err := fs.ReadFile(FS, name)
		if err != nil {
			return "", "", fmt.Errorf("migrations: %w", err)
		}
		_, body, _ := strings.Cut(comment.ReplaceAllStringFunc(string(text), withoutSemicolon), gooseUp)
		makes, drops, _ := strings.Cut(body, gooseDown)
		up, down = up+makes+record(version), drops+down
	}
	return gooseAlone + gooseUp + up, gooseAlone + gooseUp + down, nil
}

var comment = regexp.MustCompile(`(?m)^--.*$`)

// withoutSemicolon is for comments, at whose semicolons others would cut.
func withoutSemicolon(text string) string { return strings.ReplaceAll(text, ";", ",") }

// The comments that goose reads. gooseAlone has it begin no transaction: DDL commits by itself.
const (
	gooseAlone = "-- +goose NO TRANSACTION\n"
	gooseUp    = "-- +goose Up\n"
	gooseDown  = "-- +goose Down\n"
)
