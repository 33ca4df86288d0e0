CREATE TABLE folder (
  id BIGINT PRIMARY KEY,
  parent_id BIGINT NULL,
  KEY of_parent (parent_id)
) ENGINE=InnoDB;
