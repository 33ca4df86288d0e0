-- The other order. The foreign key of the INSERT locks the post, shared, and both hold that lock.
START TRANSACTION;                                      -- A: ok
INSERT INTO liked (post_id, user_id) VALUES (1, 7);     -- A: 1 row
START TRANSACTION;                                      -- B: ok
INSERT INTO liked (post_id, user_id) VALUES (1, 8);     -- B: 1 row
UPDATE post SET likes = likes + 1 WHERE id = 1;         -- A: waits
UPDATE post SET likes = likes + 1 WHERE id = 1;         -- B: error 1213
-- A: 1 row
COMMIT;                                                 -- A: ok
