CREATE TABLE account (
  id BIGINT PRIMARY KEY,
  max_projects INT NOT NULL
) ENGINE=InnoDB;
