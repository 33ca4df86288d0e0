-- A name is free again when its project is deleted, as often as one likes.
INSERT INTO project (team_id, name, made_by) VALUES (1, 'Report', 'ann');                   -- A: 1 row
INSERT INTO project (team_id, name, made_by) VALUES (1, 'Report', 'bob');                   -- B: error 1062
UPDATE project SET deleted_at = UTC_TIMESTAMP(6) WHERE team_id = 1 AND name = 'Report' AND live = 1;  -- A: 1 row
INSERT INTO project (team_id, name, made_by) VALUES (1, 'Report', 'bob');                   -- B: 1 row
UPDATE project SET deleted_at = UTC_TIMESTAMP(6) WHERE team_id = 1 AND name = 'Report' AND live = 1;  -- B: 1 row
SELECT COUNT(*), COUNT(live) FROM project WHERE name = 'Report';                            -- A: = 3, 0
INSERT INTO project (team_id, name, made_by) VALUES (1, 'Report', 'eve');                   -- A: 1 row
UPDATE project SET deleted_at = NULL WHERE made_by = 'ann';                                 -- B: error 1062
