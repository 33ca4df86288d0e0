CREATE TABLE invoice (
  order_id BIGINT PRIMARY KEY,
  no BIGINT NOT NULL,
  KEY by_no (no)
) ENGINE=InnoDB;
