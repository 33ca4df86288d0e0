CREATE TABLE post (
  id BIGINT PRIMARY KEY,
  likes INT NOT NULL
) ENGINE=InnoDB;
CREATE TABLE liked (
  post_id BIGINT NOT NULL,
  user_id BIGINT NOT NULL,
  PRIMARY KEY (post_id, user_id)
) ENGINE=InnoDB;
