CREATE TABLE event (
  id BIGINT PRIMARY KEY,
  free INT NOT NULL,
  CHECK (free >= 0)
) ENGINE=InnoDB;
