-- Ann deletes the post, Bob one of its comments, Ann takes her deletion back.
UPDATE post SET deleted_at = UTC_TIMESTAMP(6) WHERE id = 1 AND deleted_at IS NULL;     -- A: 1 row
SELECT COUNT(*) FROM visible;                                                          -- B: = 0
UPDATE comment SET deleted_at = UTC_TIMESTAMP(6) WHERE id = 2 AND deleted_at IS NULL;  -- B: 1 row
UPDATE post SET deleted_at = NULL WHERE id = 1;                                        -- A: 1 row
SELECT id FROM visible;                                                                -- B: = 1
