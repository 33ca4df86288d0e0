-- A erases the person, and B enters a visit. B waits, and learns that there is no such person.
START TRANSACTION;                                                               -- A: ok
SELECT id FROM person WHERE id = 1 FOR UPDATE;                                   -- A: = 1
INSERT INTO visit (person_id)
  SELECT id FROM person WHERE id = 1 LOCK IN SHARE MODE;                         -- B: waits
DELETE FROM visit WHERE person_id = 1;                                           -- A: 2 rows
DELETE FROM note WHERE author_id = 1;                                            -- A: 1 row
DELETE FROM person WHERE id = 1;                                                 -- A: 1 row
INSERT INTO erasure (person_id, visits, notes, erased_at)
  VALUES (1, 2, 1, UTC_TIMESTAMP(6));                                            -- A: 1 row
COMMIT;                                                                          -- A: ok
-- B: 0 rows
SELECT (SELECT COUNT(*) FROM visit WHERE person_id = 1)
  + (SELECT COUNT(*) FROM note WHERE author_id = 1);                             -- B: = 0
