CREATE TABLE purchase (
  id BIGINT PRIMARY KEY,
  paid INT NOT NULL
) ENGINE=InnoDB;
CREATE TABLE charge (
  purchase_id BIGINT PRIMARY KEY,
  amount INT NOT NULL,
  state VARCHAR(10) NOT NULL
) ENGINE=InnoDB;
CREATE TABLE provider (
  idempotency_key VARBINARY(64) PRIMARY KEY,
  amount INT NOT NULL
) ENGINE=InnoDB;
