package hosts

import (
	"context"
	"database/sql/driver"
	"errors"
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
func (h *host) ask(ctx context.Context, conn driver.Conn) error {
	queryer, ok := conn.(driver.QueryerContext)
	if !ok {
		return errors.New("onerow: the driver cannot run a query on a new connection")
	}
	for {
		n := h.asks.Load()
		answer := newStanding()
		err := Each(ctx, queryer, questions[n], answer.take)
		switch {
		case err == nil:
			return answer.usable()
		case mysqlerr.Number(err) != erTableAccessDenied || int(n) == len(questions)-1:
			return fmt.Errorf("onerow: ask whether the server takes writes: %w", err)
		}
		h.asks.Store(n + 1)
	}
}

// standing is what a server says of itself and its cluster.
type standing struct {
	is             map[string]string
	members, apart int // of a group; apart: those that it cannot reach
}

func newStanding() *standing { return &standing{is: map[string]string{}} }

func (s *standing) take(name, value string) {
	switch name {
	case "member", "other":
		s.members++
		if value == "UNREACHABLE" {
			s.apart++
		}
	}
	s.is[name] = value
}

// usable: an error says why it is not. A server whose plugin has no group is its only member, OFFLINE or
// without a name.
func (s *standing) usable() error {
	switch name, value := node.ReadOnly(s.is); {
	case name != "":
		return unusable{"the server takes no writes: " + name + " is " + value}
	case node.IsGalera(s.is) && s.is["wsrep_ready"] != "ON":
		return unusable{"the Galera node is not ready: wsrep_ready is " + s.is["wsrep_ready"]}
	case node.IsGalera(s.is) && !strings.EqualFold(s.is["wsrep_cluster_status"], "Primary"):
		return unusable{"the Galera node is outside of the primary component: wsrep_cluster_status is " + s.is["wsrep_cluster_status"]}
	case s.members > 0 && s.is["member"] != "" && s.is["member"] != "ONLINE":
		return unusable{"the server is no member of its group now: MEMBER_STATE is " + s.is["member"]}
	case s.apart*2 >= s.members && s.members > 0:
		return unusable{fmt.Sprintf("the member does not see the majority of its group: %d of %d are UNREACHABLE", s.apart, s.members)}
	}
	return nil
}
