CREATE VIEW visible AS
  SELECT comment.id FROM comment JOIN post ON post.id = comment.post_id;
