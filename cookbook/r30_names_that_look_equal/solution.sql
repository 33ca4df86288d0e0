-- Ann and Bob make a page that has the same name to a person.
START TRANSACTION;                                                              -- A: ok
INSERT INTO page (site_id, request_id, name) VALUES (1, 'ann-1', 'Home');       -- A: 1 row
INSERT INTO page (site_id, request_id, name) VALUES (1, 'bob-1', ' HOME ');     -- B: waits
COMMIT;                                                                         -- A: ok
-- B: error 1062
SELECT COUNT(*) FROM page WHERE request_id = 'bob-1';                           -- B: = 0
SELECT name FROM page WHERE site_id = 1 AND name_key = 'home';                  -- B: = Home
