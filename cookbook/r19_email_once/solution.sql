-- Two workers send the same receipt. The provider sends it once.
SELECT sent FROM receipt WHERE order_id = 7;                                       -- A: = 0
SELECT sent FROM receipt WHERE order_id = 7;                                       -- B: = 0
INSERT INTO provider (idempotency_key, mail) VALUES ('receipt/7', 'your receipt')
  ON DUPLICATE KEY UPDATE mail = mail;                                             -- A: 1 row
INSERT INTO provider (idempotency_key, mail) VALUES ('receipt/7', 'your receipt')
  ON DUPLICATE KEY UPDATE mail = mail;                                             -- B: 0 rows
UPDATE receipt SET sent = 1 WHERE order_id = 7;                                    -- A: 1 row
UPDATE receipt SET sent = 1 WHERE order_id = 7;                                    -- B: 0 rows
SELECT COUNT(*) FROM provider;                                                     -- B: = 1
