CREATE TABLE invoice (
  order_id BIGINT PRIMARY KEY,
  no BIGINT NOT NULL,
  UNIQUE KEY one_no (no)
) ENGINE=InnoDB;
