-- Two sessions. The comment behind a statement is what the server answers.
START TRANSACTION;                                       -- A: ok
INSERT INTO account (email) VALUES ('ann@example.com');  -- A: 1 row
INSERT INTO account (email) VALUES ('ann@example.com');  -- B: waits
COMMIT;                                                  -- A: ok
-- B: error 1062
SELECT email FROM account;                               -- B: = ann@example.com
