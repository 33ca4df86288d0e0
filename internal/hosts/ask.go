package hosts

import (
	"context"
	"fmt"
	"strings"

	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/node"
)

// Whether a server takes writes, and is with the majority of its cluster, in one round trip. Each engine
// reads what is in its own kind of comment. All but the members may be read by every user; it takes no lock,
// and is sent before causal reads are on, so a node that is cut off answers at once. Nor is the session set
// up in anything else: a limit that the server has for all results would hide that it is read only, and one
// for joins refuse the question.
const (
	askHost = `/*M! SET STATEMENT sql_big_selects = 1, sql_select_limit = 1000 FOR */
 SELECT /*+ SET_VAR(sql_big_selects = 1) SET_VAR(sql_select_limit = 1000) */ LOWER(VARIABLE_NAME), VARIABLE_VALUE FROM /*!50701 performance_schema.global_variables */ /*M! information_schema.GLOBAL_VARIABLES */
 WHERE VARIABLE_NAME IN ('read_only', 'super_read_only', 'innodb_read_only', 'wsrep_on', 'wsrep_provider')`
	askNode = ` /*M! UNION ALL SELECT LOWER(VARIABLE_NAME), VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS
 WHERE VARIABLE_NAME IN ('wsrep_ready', 'wsrep_cluster_status') */`
	askMember = ` /*!50701 UNION ALL SELECT IF(MEMBER_ID = @@server_uuid, 'member', 'other'), MEMBER_STATE
 FROM performance_schema.replication_group_members */`
)

// questions are the forms of it; the second is for users who may not see the members.
var questions = []string{askHost + askNode + askMember, askHost + askNode}

const erTableAccessDenied = 1142

// ask says why the server cannot be used, or nil. It remembers which question it may ask.
func (h *host) ask(ctx context.Context, conn session) error {
	for {
		n := h.asks.Load()
		rows, err := Rows(ctx, conn, questions[n])
		switch {
		case err == nil:
			return usable(rows)
		case mysqlerr.Number(err) != erTableAccessDenied || int(n) == len(questions)-1:
			return fmt.Errorf("onerow: ask whether the server takes writes: %w", err)
		}
		h.asks.Store(n + 1)
	}
}

// usable looks at what a server says of itself and its cluster: an error says why it is not. A server whose
// plugin has no group is its only member, OFFLINE or without a name.
func usable(answer [][]string) error {
	is, members, apart := map[string]string{}, 0, 0 // apart: members of its group that it cannot reach
	for _, row := range answer {
		is[row[0]] = row[1]
		if row[0] == "member" || row[0] == "other" {
			members++
			if row[1] == "UNREACHABLE" {
				apart++
			}
		}
	}
	switch name, value := node.ReadOnly(is); {
	case name != "":
		return unusable{"the server takes no writes: " + name + " is " + value}
	case node.IsGalera(is) && is["wsrep_ready"] != "ON":
		return unusable{"the Galera node is not ready: wsrep_ready is " + is["wsrep_ready"]}
	case node.IsGalera(is) && !strings.EqualFold(is["wsrep_cluster_status"], "Primary"):
		return unusable{"the Galera node is outside of the primary component: wsrep_cluster_status is " + is["wsrep_cluster_status"]}
	case members > 0 && is["member"] != "" && is["member"] != "ONLINE":
		return unusable{"the server is no member of its group now: MEMBER_STATE is " + is["member"]}
	case apart*2 >= members && members > 0:
		return unusable{fmt.Sprintf("the member does not see the majority of its group: %d of %d are UNREACHABLE", apart, members)}
	}
	return nil
}
