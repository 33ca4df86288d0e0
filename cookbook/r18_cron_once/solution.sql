-- Two machines at midnight. B waits at the day, and learns that it is done.
START TRANSACTION;                                                 -- A: ok
INSERT INTO cron_run (name, day) VALUES ('report', UTC_DATE());    -- A: 1 row
INSERT INTO cron_run (name, day) VALUES ('report', UTC_DATE());    -- B: waits
INSERT INTO report (day) VALUES (UTC_DATE());                      -- A: 1 row
COMMIT;                                                            -- A: ok
-- B: error 1062
SELECT COUNT(*) FROM report;                                       -- B: = 1
