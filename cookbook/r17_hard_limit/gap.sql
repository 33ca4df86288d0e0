-- REPEATABLE READ, an account without projects. Both count "under a lock".
START TRANSACTION;                                                 -- A: ok
SELECT COUNT(*) FROM project WHERE account_id = 7 FOR UPDATE;      -- A: = 0
START TRANSACTION;                                                 -- B: ok
SELECT COUNT(*) FROM project WHERE account_id = 7 FOR UPDATE;      -- B: = 0
INSERT INTO project (account_id, request_id) VALUES (7, 'ann-1');  -- A: waits
INSERT INTO project (account_id, request_id) VALUES (7, 'bob-1');  -- B: error 1213
-- A: 1 row
COMMIT;                                                            -- A: ok
