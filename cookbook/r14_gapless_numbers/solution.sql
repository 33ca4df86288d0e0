-- The counter's row is the queue: B gets its number when A has committed.
START TRANSACTION;                                                                   -- A: ok
INSERT INTO invoice (order_id) VALUES (1);                                           -- A: 1 row
UPDATE series SET last_no = LAST_INSERT_ID(last_no + 1) WHERE name = 'invoice';      -- A: 1 row
START TRANSACTION;                                                                   -- B: ok
INSERT INTO invoice (order_id) VALUES (2);                                           -- B: 1 row
UPDATE series SET last_no = LAST_INSERT_ID(last_no + 1) WHERE name = 'invoice';      -- B: waits
UPDATE invoice SET no = LAST_INSERT_ID() WHERE order_id = 1;                         -- A: 1 row
COMMIT;                                                                              -- A: ok
-- B: 1 row
UPDATE invoice SET no = LAST_INSERT_ID() WHERE order_id = 2;                         -- B: 1 row
COMMIT;                                                                              -- B: ok
SELECT order_id, no FROM invoice ORDER BY no;                                        -- A: = 1, 1; 2, 2
