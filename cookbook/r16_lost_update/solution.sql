-- A's write comes between B's read and B's write. B's second try is a new transaction.
START TRANSACTION;                                                         -- A: ok
SELECT n, version FROM stock WHERE id = 1;                                 -- A: = 10, 1
SELECT n, version FROM stock WHERE id = 1;                                 -- B: = 10, 1
UPDATE stock SET n = 9, version = version + 1 WHERE id = 1 AND version = 1;  -- A: 1 row
COMMIT;                                                                    -- A: ok
UPDATE stock SET n = 9, version = version + 1 WHERE id = 1 AND version = 1;  -- B: 0 rows
START TRANSACTION;                                                         -- B: ok
SELECT n, version FROM stock WHERE id = 1;                                 -- B: = 9, 2
UPDATE stock SET n = 8, version = version + 1 WHERE id = 1 AND version = 2;  -- B: 1 row
COMMIT;                                                                    -- B: ok
SELECT n, version FROM stock;                                              -- A: = 8, 3
