CREATE TABLE payment (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  amount INT NOT NULL
) ENGINE=InnoDB;
CREATE TABLE request (
  idempotency_key VARBINARY(64) PRIMARY KEY,
  amount INT NOT NULL,
  payment_id BIGINT NULL,
  FOREIGN KEY (payment_id) REFERENCES payment (id)
) ENGINE=InnoDB;
