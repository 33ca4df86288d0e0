-- A deletes the account while B adds an event to it. The worker is A's second half.
START TRANSACTION;                                                          -- A: ok
INSERT IGNORE INTO deletion (account_id)
  SELECT id FROM account WHERE id = 7;                                      -- A: 1 row
DELETE FROM account WHERE id = 7;                                           -- A: 1 row
INSERT INTO event (account_id)
  SELECT id FROM account WHERE id = 7 LOCK IN SHARE MODE;                   -- B: waits
COMMIT;                                                                     -- A: ok
-- B: 0 rows
DELETE FROM event WHERE account_id = 7 LIMIT 2;                             -- A: 2 rows
DELETE FROM event WHERE account_id = 7 LIMIT 2;                             -- A: 1 row
DELETE FROM deletion WHERE account_id = 7;                                  -- A: 1 row
