-- name: AddNote :exec
INSERT INTO note (project_id, text) VALUES (?, ?);

-- name: ListTexts :many
SELECT text FROM note WHERE project_id = ? ORDER BY id;
