-- A takes the job for a microsecond and is not heard of again. B takes it over; then A comes back.
UPDATE job SET state = 'running', token = LAST_INSERT_ID(token + 1),
  lease_until = UTC_TIMESTAMP(6) + INTERVAL 1 MICROSECOND
  WHERE id = 1 AND state <> 'done' AND lease_until < UTC_TIMESTAMP(6);   -- A: 1 row
UPDATE job SET state = 'running', token = LAST_INSERT_ID(token + 1),
  lease_until = UTC_TIMESTAMP(6) + INTERVAL 30 SECOND
  WHERE id = 1 AND state <> 'done' AND lease_until < UTC_TIMESTAMP(6);   -- B: 1 row
START TRANSACTION;                                                       -- B: ok
SELECT token = LAST_INSERT_ID() FROM job WHERE id = 1 FOR UPDATE;        -- B: = 1
START TRANSACTION;                                                       -- A: ok
SELECT token = LAST_INSERT_ID() FROM job WHERE id = 1 FOR UPDATE;        -- A: waits
INSERT INTO report (job_id) VALUES (1);                                  -- B: 1 row
UPDATE job SET state = 'done' WHERE id = 1;                              -- B: 1 row
COMMIT;                                                                  -- B: ok
-- A: = 0
ROLLBACK;                                                                -- A: ok
