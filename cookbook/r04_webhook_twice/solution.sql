-- "paid" comes twice, and "created", which was before it, comes last.
START TRANSACTION;                                                                         -- A: ok
INSERT INTO seen_event (event_id) VALUES ('evt_2');                                        -- A: 1 row
INSERT INTO seen_event (event_id) VALUES ('evt_2');                                        -- B: waits
UPDATE purchase SET status = 'paid', status_at = 200 WHERE id = 7 AND status_at < 200;     -- A: 1 row
COMMIT;                                                                                    -- A: ok
-- B: error 1062
INSERT INTO seen_event (event_id) VALUES ('evt_1');                                        -- B: 1 row
UPDATE purchase SET status = 'created', status_at = 100 WHERE id = 7 AND status_at < 100;  -- B: 0 rows
SELECT status, status_at FROM purchase;                                                    -- B: = paid, 200
