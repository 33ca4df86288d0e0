-- B is the same request again, while A is still at work.
START TRANSACTION;                                                              -- A: ok
INSERT INTO request (idempotency_key, amount) VALUES ('k-1', 30);               -- A: 1 row
START TRANSACTION;                                                              -- B: ok
INSERT INTO request (idempotency_key, amount) VALUES ('k-1', 30);               -- B: waits
INSERT INTO payment (amount) VALUES (30);                                       -- A: 1 row
UPDATE request SET payment_id = LAST_INSERT_ID() WHERE idempotency_key = 'k-1'; -- A: 1 row
COMMIT;                                                                         -- A: ok
-- B: error 1062
ROLLBACK;                                                                       -- B: ok
SELECT amount, payment_id FROM request WHERE idempotency_key = 'k-1';           -- B: = 30, 1
