-- REPEATABLE READ, an empty table, two seats that have nothing to do with each other.
START TRANSACTION;                                                 -- A: ok
SELECT who FROM seat WHERE show_id = 1 AND no = 8 FOR UPDATE;      -- A: no row
START TRANSACTION;                                                 -- B: ok
SELECT who FROM seat WHERE show_id = 1 AND no = 9 FOR UPDATE;      -- B: no row
INSERT INTO seat (show_id, no, who) VALUES (1, 8, 'ann');          -- A: waits
INSERT INTO seat (show_id, no, who) VALUES (1, 9, 'bob');          -- B: error 1213
-- A: 1 row
COMMIT;                                                            -- A: ok
