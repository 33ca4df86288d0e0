package ident_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/onerow/onerow/internal/ident"
)

// TestTrashTable: names fit, and two tables never share one.
func TestTrashTable(t *testing.T) {
	long := strings.Repeat("ж", 60)
	one, other := ident.TrashTable(long+"one"), ident.TrashTable(long+"two")
	if one == other || utf8.RuneCountInString(one) != 64 || utf8.RuneCountInString(other) != 64 {
		t.Errorf("%s, %s", one, other)
	}
	if name := ident.TrashTable("order"); name != "onerow_trash_order" {
		t.Error(name)
	}
}
