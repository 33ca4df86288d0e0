CREATE TABLE post (
  id BIGINT PRIMARY KEY,
  deleted_at DATETIME(6) NULL
) ENGINE=InnoDB;
CREATE TABLE comment (
  id BIGINT PRIMARY KEY,
  post_id BIGINT NOT NULL,
  deleted_at DATETIME(6) NULL,
  KEY of_post (post_id)
) ENGINE=InnoDB;
CREATE VIEW visible AS
  SELECT comment.id FROM comment JOIN post ON post.id = comment.post_id
  WHERE comment.deleted_at IS NULL AND post.deleted_at IS NULL;
