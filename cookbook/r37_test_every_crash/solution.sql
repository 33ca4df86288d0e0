-- A is slow, and its request is sent again as B.
START TRANSACTION;                                                          -- A: ok
INSERT INTO purchase (customer_id, request_id) VALUES (7, 'r-1');           -- A: 1 row
START TRANSACTION;                                                          -- B: ok
INSERT INTO purchase (customer_id, request_id) VALUES (7, 'r-1');           -- B: waits
INSERT INTO line (purchase_id, item) VALUES (LAST_INSERT_ID(), 'pencil');   -- A: 1 row
COMMIT;                                                                     -- A: ok
-- B: error 1062
ROLLBACK;                                                                   -- B: ok
SELECT COUNT(*) FROM line;                                                  -- B: = 1
