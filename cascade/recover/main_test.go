package recover_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// createTrash makes the trash tables of a plan.
func createTrash(ctx context.Context, db *sql.DB, plan schema.Plan) error {
	cat, err := catalog.Read(ctx, db)
	if err != nil {
		return err
	}
	ddl, err := cat.TrashDDL(plan)
	for _, statement := range ddl {
		if err == nil {
			_, err = db.ExecContext(ctx, statement)
		}
	}
	return err
}
