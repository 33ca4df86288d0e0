-- Two workers have the same message. B waits at its id, and learns that it is done.
START TRANSACTION;                                          -- A: ok
INSERT INTO processed (message_id) VALUES ('m-1');          -- A: 1 row
START TRANSACTION;                                          -- B: ok
INSERT INTO processed (message_id) VALUES ('m-1');          -- B: waits
UPDATE customer SET points = points + 10 WHERE id = 7;      -- A: 1 row
COMMIT;                                                     -- A: ok
-- B: error 1062
ROLLBACK;                                                   -- B: ok
SELECT points FROM customer;                                -- B: = 10
