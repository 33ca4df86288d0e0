package catalog_test

import (
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }
