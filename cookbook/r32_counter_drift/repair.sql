-- Some program has written a wrong number. Who likes the post meanwhile waits.
UPDATE post SET likes = 5 WHERE id = 1;                 -- A: 1 row
SELECT p.id, p.likes, COUNT(l.user_id)
  FROM post p LEFT JOIN liked l ON l.post_id = p.id
  GROUP BY p.id, p.likes
  HAVING p.likes <> COUNT(l.user_id);                   -- A: = 1, 5, 0
START TRANSACTION;                                      -- A: ok
SELECT likes FROM post WHERE id = 1 FOR UPDATE;         -- A: = 5
START TRANSACTION;                                      -- B: ok
UPDATE post SET likes = likes + 1 WHERE id = 1;         -- B: waits
UPDATE post SET likes = (SELECT COUNT(*) FROM liked WHERE post_id = 1) WHERE id = 1;  -- A: 1 row
COMMIT;                                                 -- A: ok
-- B: 1 row
INSERT INTO liked (post_id, user_id) VALUES (1, 8);     -- B: 1 row
COMMIT;                                                 -- B: ok
SELECT p.likes, COUNT(l.user_id) FROM post p LEFT JOIN liked l ON l.post_id = p.id GROUP BY p.id, p.likes;  -- A: = 1, 1
