-- One seat is left. B's UPDATE waits, then looks at the row as it is then.
START TRANSACTION;                                                 -- A: ok
INSERT INTO booking (request_id, event_id) VALUES ('ann-1', 1);    -- A: 1 row
UPDATE event SET free = free - 1 WHERE id = 1 AND free >= 1;       -- A: 1 row
START TRANSACTION;                                                 -- B: ok
INSERT INTO booking (request_id, event_id) VALUES ('bob-1', 1);    -- B: 1 row
UPDATE event SET free = free - 1 WHERE id = 1 AND free >= 1;       -- B: waits
COMMIT;                                                            -- A: ok
-- B: 0 rows
ROLLBACK;                                                          -- B: ok
SELECT free FROM event;                                            -- B: = 0
SELECT request_id FROM booking;                                    -- B: = ann-1
