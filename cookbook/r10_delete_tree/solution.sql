-- Folder 1 has 2 and 3, folder 2 has 4. While A deletes, B puts a folder into 4.
SELECT id FROM folder WHERE parent_id IN (1) ORDER BY id;      -- A: = 2; 3
SELECT id FROM folder WHERE parent_id IN (2, 3) ORDER BY id;   -- A: = 4
SELECT id FROM folder WHERE parent_id IN (4) ORDER BY id;      -- A: no row
INSERT INTO folder (id, parent_id) VALUES (5, 4);              -- B: 1 row
DELETE FROM folder WHERE id IN (4);                            -- A: error 1451
SELECT id FROM folder WHERE parent_id IN (4) ORDER BY id;      -- A: = 5
DELETE FROM folder WHERE id IN (5);                            -- A: 1 row
DELETE FROM folder WHERE id IN (4);                            -- A: 1 row
DELETE FROM folder WHERE id IN (2, 3);                         -- A: 2 rows
DELETE FROM folder WHERE id IN (1);                            -- A: 1 row
INSERT INTO folder (id, parent_id) VALUES (6, 4);              -- B: error 1452
