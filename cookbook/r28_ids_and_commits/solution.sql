-- A and B write at the same time. B waits for A's number to be committed, or given back.
START TRANSACTION;                                                                     -- A: ok
UPDATE counter SET last_no = LAST_INSERT_ID(last_no + 1) WHERE name = 'message';       -- A: 1 row
START TRANSACTION;                                                                     -- B: ok
UPDATE counter SET last_no = LAST_INSERT_ID(last_no + 1) WHERE name = 'message';       -- B: waits
INSERT INTO message (no, event) VALUES (LAST_INSERT_ID(), 'ann signs in');             -- A: 1 row
COMMIT;                                                                                -- A: ok
-- B: 1 row
INSERT INTO message (no, event) VALUES (LAST_INSERT_ID(), 'bob signs in');             -- B: 1 row
COMMIT;                                                                                -- B: ok
SELECT no, event FROM message ORDER BY no;                                             -- A: = 1, ann signs in; 2, bob signs in
