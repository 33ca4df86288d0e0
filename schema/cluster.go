package schema

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
)

// isAbove says whether the resource is the parent of another one.
func (p Plan) isAbove(name string) bool {
	return slices.ContainsFunc(p.Resources, func(r Resource) bool { return r.Parent.Resource == name })
}

// isGuard says whether a column is the guard of a plan for a cluster. A plan that is not for one lets it be:
// it is added before the first program has such a plan, and dropped after the last one.
func (c *foundColumn) isGuard() bool {
	return strings.EqualFold(c.name, ColGuard) && c.data == "bigint" && strings.Contains(c.full, "unsigned") && !c.nullable && c.hasDefault
}

// SHOW, as in onerow.Check: each server leaves out what it does not know. It reads no table and takes no lock.
const sqlCluster = `SHOW GLOBAL VARIABLES WHERE Variable_name IN ('wsrep_on', 'wsrep_provider',
'group_replication_group_name', 'group_replication_single_primary_mode')`

// checkCluster refuses a plan that needs guards, and has none, on a server of a cluster. One statement, for
// plans with parents that are not for a cluster.
func checkCluster(ctx context.Context, db onerow.DB, plan Plan) error {
	at := slices.IndexFunc(plan.Resources, func(r Resource) bool { return plan.isAbove(r.Name) })
	if plan.Cluster || at < 0 {
		return nil
	}
	variables := map[string]string{}
	err := onerow.Query(ctx, db, sqlCluster, nil, func(rows *sql.Rows) error {
		var name, value string
		err := rows.Scan(&name, &value)
		variables[strings.ToLower(name)] = value
		return err
	})
	if err != nil {
		return err
	}
	setting, value := severalPrimaries(variables)
	if setting == "" {
		return nil
	}
	return &onerow.SettingError{Setting: setting, Value: value,
		Why: fmt.Sprintf("other nodes of this cluster take writes too and do not see its row locks, so a row could come below a %q that is deleted there", plan.Resources[at].Name),
		Fix: "let the plan say cluster: true, also where one node takes all writes for the time being; verify then names the columns to add"}
}

// severalPrimaries is the setting that says that other servers take writes for the same tables, or "". A
// cluster of one node counts: another one may join while the program runs.
func severalPrimaries(is map[string]string) (setting, value string) {
	switch provider := is["wsrep_provider"]; {
	case is["wsrep_on"] == "ON" && provider != "" && provider != "none":
		return "wsrep_on", "ON"
	case is["group_replication_group_name"] != "" && is["group_replication_single_primary_mode"] == "OFF":
		return "group_replication_single_primary_mode", "OFF"
	}
	return "", ""
}
