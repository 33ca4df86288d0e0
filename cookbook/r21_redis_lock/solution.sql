-- Two people start an export of the same account; it ends, and the next one may start.
START TRANSACTION;                                                          -- A: ok
INSERT INTO export (account_id, request_id) VALUES (7, 'ann-1');            -- A: 1 row
INSERT INTO export (account_id, request_id) VALUES (7, 'bob-1');            -- B: waits
COMMIT;                                                                     -- A: ok
-- B: error 1062
SELECT COUNT(*) FROM export WHERE request_id = 'bob-1';                     -- B: = 0
UPDATE export SET finished_at = UTC_TIMESTAMP(6)
  WHERE account_id = 7 AND finished_at IS NULL;                             -- A: 1 row
INSERT INTO export (account_id, request_id) VALUES (7, 'bob-2');            -- B: 1 row
