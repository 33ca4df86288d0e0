-- The gap locks of two sessions do not exclude each other; the unique key does.
START TRANSACTION;                                             -- A: ok
INSERT INTO seat (show_id, no, who) VALUES (1, 7, 'ann');      -- A: 1 row
INSERT INTO seat (show_id, no, who) VALUES (1, 7, 'bob');      -- B: waits
COMMIT;                                                        -- A: ok
-- B: error 1062
SELECT who FROM seat WHERE show_id = 1 AND no = 7;             -- B: = ann
