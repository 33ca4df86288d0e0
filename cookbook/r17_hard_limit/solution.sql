-- The account's row is the queue. B counts when A has committed.
START TRANSACTION;                                                 -- A: ok
SELECT max_projects FROM account WHERE id = 7 FOR UPDATE;          -- A: = 1
START TRANSACTION;                                                 -- B: ok
SELECT max_projects FROM account WHERE id = 7 FOR UPDATE;          -- B: waits
INSERT INTO project (account_id, request_id) VALUES (7, 'ann-1');  -- A: 1 row
SELECT COUNT(*) FROM project WHERE account_id = 7;                 -- A: = 1
COMMIT;                                                            -- A: ok
-- B: = 1
INSERT INTO project (account_id, request_id) VALUES (7, 'bob-1');  -- B: 1 row
SELECT COUNT(*) FROM project WHERE account_id = 7;                 -- B: = 2
ROLLBACK;                                                          -- B: ok
