-- A has sent COMMIT and got no answer. B is the same request again, on another connection.
START TRANSACTION;                                              -- A: ok
INSERT INTO transfer (request_id, amount) VALUES ('r-1', 30);   -- A: 1 row
UPDATE account SET balance = balance - 30 WHERE id = 1;         -- A: 1 row
UPDATE account SET balance = balance + 30 WHERE id = 2;         -- A: 1 row
START TRANSACTION;                                              -- B: ok
INSERT INTO transfer (request_id, amount) VALUES ('r-1', 30);   -- B: waits
COMMIT;                                                         -- A: ok
-- B: error 1062
ROLLBACK;                                                       -- B: ok
SELECT id, balance FROM account;                                -- B: = 1, 70; 2, 30
