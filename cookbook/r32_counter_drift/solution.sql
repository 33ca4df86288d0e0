-- B waits at the post. Its second like is a duplicate, and the ROLLBACK undoes the UPDATE.
START TRANSACTION;                                      -- A: ok
UPDATE post SET likes = likes + 1 WHERE id = 1;         -- A: 1 row
START TRANSACTION;                                      -- B: ok
UPDATE post SET likes = likes + 1 WHERE id = 1;         -- B: waits
INSERT INTO liked (post_id, user_id) VALUES (1, 7);     -- A: 1 row
COMMIT;                                                 -- A: ok
-- B: 1 row
INSERT INTO liked (post_id, user_id) VALUES (1, 8);     -- B: 1 row
COMMIT;                                                 -- B: ok
START TRANSACTION;                                      -- B: ok
UPDATE post SET likes = likes + 1 WHERE id = 1;         -- B: 1 row
INSERT INTO liked (post_id, user_id) VALUES (1, 8);     -- B: error 1062
ROLLBACK;                                               -- B: ok
SELECT likes FROM post;                                 -- A: = 2
