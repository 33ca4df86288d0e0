package main

import (
	"strings"

	"github.com/onerow/onerow/internal/schematest"
)

// soft is a reference that a schema has and does not declare, and how one knows.
type soft struct{ table, column, to, references, why string }

func (s soft) String() string {
	return reference(s.table, []string{s.column}, s.to, []string{s.references})
}

func (s soft) key() schematest.ForeignKey {
	return schematest.ForeignKey{Child: s.table, Parent: s.to, Columns: []string{s.column}, References: []string{s.references}}
}

// softly reads lines of "table.column → table.column: why".
func softly(text string) (list []soft) {
	for line := range strings.Lines(text) {
		ref, why, found := strings.Cut(strings.TrimSpace(line), ": ")
		from, to, also := strings.Cut(ref, " → ")
		if !found || !also {
			continue
		}
		s := soft{why: why}
		s.table, s.column, _ = strings.Cut(from, ".")
		s.to, s.references, _ = strings.Cut(to, ".")
		list = append(list, s)
	}
	return list
}

// undeclared are the references without a foreign key, by schema. They were looked for among what discover
// proposes, so they say nothing of recall; each has a reason, from what its column is for, and what has none
// stays wrong.
var undeclared = map[string][]soft{
	"zabbix": softly(`
auditlog.userid → users.userid: who did it; entries outlive users
escalations.acknowledgeid → acknowledges.acknowledgeid: the acknowledgement that it tells of; escalations are short-lived, and written often
escalations.actionid → actions.actionid: the action that it is a run of
escalations.eventid → events.eventid: the event that began it
escalations.itemid → items.itemid: the item, where the event is of one
escalations.r_eventid → events.eventid: the event that ended it
escalations.servicealarmid → service_alarms.servicealarmid: the change of a service's state that it tells of
escalations.serviceid → services.serviceid: the service, where the event is of one
escalations.triggerid → triggers.triggerid: the trigger, where the event is of one
event_recovery.correlationid → correlation.correlationid: the rule that closed the event
event_recovery.userid → users.userid: the person who closed the event
history.itemid → items.itemid: the item that was measured; thousands of rows a second, so nothing is declared
history_log.itemid → items.itemid: as in history
history_str.itemid → items.itemid: as in history
history_text.itemid → items.itemid: as in history
history_uint.itemid → items.itemid: as in history
problem.correlationid → correlation.correlationid: as in event_recovery
problem.userid → users.userid: as in event_recovery
problem_tag.eventid → events.eventid: declared to problem.eventid, which is one of events
proxy_dhistory.dcheckid → dchecks.dcheckid: the check of discovery that answered
proxy_dhistory.druleid → drules.druleid: the rule of that check
proxy_history.itemid → items.itemid: as in history, on a proxy
service_problem.eventid → events.eventid: declared to problem.eventid, which is one of events
task_acknowledge.acknowledgeid → acknowledges.acknowledgeid: what is to be done; tasks are short-lived
task_check_now.itemid → items.itemid: the item that is to be asked at once
task_close_problem.acknowledgeid → acknowledges.acknowledgeid: with which somebody closes a problem
task_data.parent_taskid → task.taskid: the task that asked for it
task_remote_command.alertid → alerts.alertid: the message that is a command
task_remote_command.hostid → hosts.hostid: where it is to run
task_remote_command.parent_taskid → task.taskid: the task that asked for it
task_remote_command_result.parent_taskid → task.taskid: the task whose result it is
task_result.parent_taskid → task.taskid: the task whose result it is
trends.itemid → items.itemid: as in history
trends_uint.itemid → items.itemid: as in history
`),
	"kea": softly(`
dhcp4_audit_revision.server_id → dhcp4_server.id: its procedure looks the server up by its tag
dhcp6_audit_revision.server_id → dhcp6_server.id: likewise
hosts.dhcp4_subnet_id → dhcp4_subnet.subnet_id: where the reservation holds; subnets may be in a file instead
hosts.dhcp6_subnet_id → dhcp6_subnet.subnet_id: likewise
lease4_stat.state → lease_state.state: counts leases by their state, which is declared in lease4
lease6_stat.state → lease_state.state: likewise
`),
}
