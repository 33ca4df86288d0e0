-- A adds up for run 1. B puts an item into the cart, which begins run 2, and adds up for that.
START TRANSACTION;                                                -- B: ok
UPDATE cart SET run = 'run-2' WHERE id = 1;                       -- B: 1 row
INSERT INTO item (cart_id, price) VALUES (1, 5);                  -- B: 1 row
COMMIT;                                                           -- B: ok
START TRANSACTION;                                                -- B: ok
SELECT run = 'run-2' FROM cart WHERE id = 1 FOR UPDATE;           -- B: = 1
START TRANSACTION;                                                -- A: ok
SELECT run = 'run-1' FROM cart WHERE id = 1 FOR UPDATE;           -- A: waits
SELECT SUM(price) FROM item WHERE cart_id = 1;                    -- B: = 35
UPDATE cart SET total = 35 WHERE id = 1;                          -- B: 1 row
COMMIT;                                                           -- B: ok
-- A: = 0
ROLLBACK;                                                         -- A: ok
