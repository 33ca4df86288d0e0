-- B renames while A archives, archives what is archived, and A takes it back.
START TRANSACTION;                                                            -- A: ok
SELECT id FROM project WHERE id = 1 FOR UPDATE;                               -- A: = 1
UPDATE project SET title = 'New', version = version + 1 WHERE id = 1;         -- B: waits
INSERT INTO project_archive (id, title, version)
  SELECT id, title, version FROM project WHERE id = 1;                        -- A: 1 row
DELETE FROM project WHERE id = 1;                                             -- A: 1 row
COMMIT;                                                                       -- A: ok
-- B: 0 rows
START TRANSACTION;                                                            -- B: ok
SELECT id FROM project WHERE id = 1 FOR UPDATE;                               -- B: no row
ROLLBACK;                                                                     -- B: ok
START TRANSACTION;                                                            -- A: ok
SELECT id FROM project_archive WHERE id = 1 FOR UPDATE;                       -- A: = 1
INSERT INTO project (id, title, version)
  SELECT id, title, version FROM project_archive WHERE id = 1;                -- A: 1 row
DELETE FROM project_archive WHERE id = 1;                                     -- A: 1 row
COMMIT;                                                                       -- A: ok
SELECT title FROM project;                                                    -- B: = Old
