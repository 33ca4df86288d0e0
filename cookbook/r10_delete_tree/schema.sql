CREATE TABLE folder (
  id BIGINT PRIMARY KEY,
  parent_id BIGINT NULL,
  KEY of_parent (parent_id),
  FOREIGN KEY (parent_id) REFERENCES folder (id)
) ENGINE=InnoDB;
