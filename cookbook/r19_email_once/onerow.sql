CREATE TABLE provider (
  idempotency_key VARBINARY(64) PRIMARY KEY,
  mail VARCHAR(40) NOT NULL
) ENGINE=InnoDB;
