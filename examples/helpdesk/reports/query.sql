-- Loose over the index (tenant_id, number): as many entries as tenants.
-- name: LastNumbers :many
SELECT tenant_id, CAST(MAX(number) AS SIGNED) AS last FROM tickets GROUP BY tenant_id;

-- One tenant's tickets by workspace and status, of the index (tenant_id, workspace_id, status, …) alone.
-- name: ByWorkspace :many
SELECT w.name, t.status, COUNT(*) AS tickets
FROM workspaces w JOIN tickets t ON t.tenant_id = w.tenant_id AND t.workspace_id = w.id
WHERE w.tenant_id = ? GROUP BY w.id, w.name, t.status ORDER BY w.name, w.id, t.status;

-- name: ByTag :many
SELECT g.label, COUNT(*) AS tickets
FROM tags g JOIN ticket_tag l ON l.tag_id = g.id JOIN tickets t ON t.id = l.ticket_id AND t.tenant_id = sqlc.arg(tenant_id)
WHERE t.status <> 'closed' GROUP BY g.id, g.label ORDER BY tickets DESC, g.label LIMIT 10;

-- The rows of the ticket and the tag are locked, so that neither goes before the link is committed.
-- name: AddTag :execrows
INSERT IGNORE INTO ticket_tag (ticket_id, tag_id)
SELECT t.id, g.id FROM tickets t JOIN tags g ON g.tenant_id = t.tenant_id
WHERE t.tenant_id = ? AND t.workspace_id = ? AND t.id = ? AND g.label = ? LOCK IN SHARE MODE;

-- name: HasTag :one
SELECT COUNT(*) FROM ticket_tag l JOIN tags g ON g.id = l.tag_id
WHERE l.ticket_id = ? AND g.tenant_id = ? AND g.label = ?;
