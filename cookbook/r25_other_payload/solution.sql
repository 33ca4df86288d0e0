-- B has A's key by mistake. A asks again, and is answered as before.
INSERT INTO payment (idempotency_key, fingerprint, amount, currency)
  VALUES ('k-1', UNHEX(SHA2('{"amount":30,"currency":"EUR"}', 256)), 30, 'EUR');         -- A: 1 row
INSERT INTO payment (idempotency_key, fingerprint, amount, currency)
  VALUES ('k-1', UNHEX(SHA2('{"amount":40,"currency":"EUR"}', 256)), 40, 'EUR');         -- B: error 1062
SELECT fingerprint = UNHEX(SHA2('{"amount":40,"currency":"EUR"}', 256))
  FROM payment WHERE idempotency_key = 'k-1';                                            -- B: = 0
INSERT INTO payment (idempotency_key, fingerprint, amount, currency)
  VALUES ('k-1', UNHEX(SHA2('{"amount":30,"currency":"EUR"}', 256)), 30, 'EUR');         -- A: error 1062
SELECT fingerprint = UNHEX(SHA2('{"amount":30,"currency":"EUR"}', 256))
  FROM payment WHERE idempotency_key = 'k-1';                                            -- A: = 1
