-- 0 rows twice, for two reasons. The lock tells them apart.
UPDATE purchase SET address = 'Elm Row 1' WHERE id = 7;   -- A: 1 row
UPDATE purchase SET address = 'Elm Row 1' WHERE id = 7;   -- A: 0 rows
UPDATE purchase SET address = 'Elm Row 1' WHERE id = 8;   -- A: 0 rows
START TRANSACTION;                                        -- B: ok
SELECT id FROM purchase WHERE id = 7 FOR UPDATE;          -- B: = 7
DELETE FROM purchase WHERE id = 7;                        -- A: waits
UPDATE purchase SET address = 'Elm Row 1' WHERE id = 7;   -- B: 0 rows
COMMIT;                                                   -- B: ok
-- A: 1 row
SELECT id FROM purchase WHERE id = 7 FOR UPDATE;          -- B: no row
