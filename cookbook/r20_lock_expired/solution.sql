-- The lease is a microsecond, so that A's pause need not be waited for. A draws 1, B draws 2.
UPDATE lease SET token = LAST_INSERT_ID(token + 1), until = UTC_TIMESTAMP(6) + INTERVAL 1 MICROSECOND
  WHERE name = 'prices' AND until < UTC_TIMESTAMP(6);               -- A: 1 row
SELECT LAST_INSERT_ID();                                            -- A: = 1
SELECT amount FROM price WHERE id = 1;                              -- A: = 10
UPDATE price SET amount = 20 WHERE id = 1;                          -- B: 1 row
UPDATE lease SET token = LAST_INSERT_ID(token + 1), until = UTC_TIMESTAMP(6) + INTERVAL 30 SECOND
  WHERE name = 'prices' AND until < UTC_TIMESTAMP(6);               -- B: 1 row
SELECT LAST_INSERT_ID();                                            -- B: = 2
SELECT amount FROM price WHERE id = 1;                              -- B: = 20
START TRANSACTION;                                                  -- B: ok
SELECT token FROM lease WHERE name = 'prices' FOR UPDATE;           -- B: = 2
START TRANSACTION;                                                  -- A: ok
SELECT token FROM lease WHERE name = 'prices' FOR UPDATE;           -- A: waits
UPDATE price_list SET amount = 20 WHERE id = 1;                     -- B: 1 row
UPDATE lease SET until = UTC_TIMESTAMP(6) WHERE name = 'prices';    -- B: 1 row
COMMIT;                                                             -- B: ok
-- A: = 2
ROLLBACK;                                                           -- A: ok
SELECT amount FROM price_list;                                      -- A: = 20
