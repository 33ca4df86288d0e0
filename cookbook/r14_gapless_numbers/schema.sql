CREATE TABLE series (
  name VARCHAR(40) PRIMARY KEY,
  last_no BIGINT NOT NULL
) ENGINE=InnoDB;
CREATE TABLE invoice (
  order_id BIGINT PRIMARY KEY,
  no BIGINT NULL, -- until its transaction ends
  UNIQUE KEY one_no (no)
) ENGINE=InnoDB;
