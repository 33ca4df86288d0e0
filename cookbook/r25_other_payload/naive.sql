CREATE TABLE payment (
  idempotency_key VARBINARY(64) PRIMARY KEY,
  amount INT NOT NULL,
  currency CHAR(3) NOT NULL
) ENGINE=InnoDB;
