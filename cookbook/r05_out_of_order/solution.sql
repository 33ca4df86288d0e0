-- "shipped" is later than "paid", and comes first.
START TRANSACTION;                                                                         -- A: ok
UPDATE purchase SET status = 'shipped', status_at = 200 WHERE id = 7 AND status_at < 200;  -- A: 1 row
UPDATE purchase SET status = 'paid', status_at = 100 WHERE id = 7 AND status_at < 100;     -- B: waits
COMMIT;                                                                                    -- A: ok
-- B: 0 rows
UPDATE purchase SET status = 'shipped', status_at = 200 WHERE id = 7 AND status_at < 200;  -- A: 0 rows
SELECT status, status_at FROM purchase;                                                    -- B: = shipped, 200
