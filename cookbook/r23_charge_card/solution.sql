-- A has charged and was not heard of again. B is the next try: it meets the charge that was begun.
INSERT IGNORE INTO charge (purchase_id, amount, state) VALUES (7, 30, 'begun');      -- A: 1 row
SELECT amount, state FROM charge WHERE purchase_id = 7;                              -- A: = 30, begun
INSERT INTO provider (idempotency_key, amount) VALUES ('purchase/7', 30)
  ON DUPLICATE KEY UPDATE amount = provider.amount;                                  -- A: 1 row
INSERT IGNORE INTO charge (purchase_id, amount, state) VALUES (7, 30, 'begun');      -- B: 0 rows
SELECT amount, state FROM charge WHERE purchase_id = 7;                              -- B: = 30, begun
INSERT INTO provider (idempotency_key, amount) VALUES ('purchase/7', 30)
  ON DUPLICATE KEY UPDATE amount = provider.amount;                                  -- B: 0 rows
START TRANSACTION;                                                                   -- B: ok
UPDATE charge SET state = 'done' WHERE purchase_id = 7;                              -- B: 1 row
UPDATE purchase SET paid = 30 WHERE id = 7;                                          -- B: 1 row
COMMIT;                                                                              -- B: ok
SELECT SUM(amount) FROM provider;                                                    -- B: = 30
