CREATE TABLE payment (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  amount INT NOT NULL
) ENGINE=InnoDB;
CREATE TABLE seen (
  idempotency_key VARBINARY(64) NOT NULL,
  payment_id BIGINT NOT NULL,
  KEY by_key (idempotency_key),
  FOREIGN KEY (payment_id) REFERENCES payment (id)
) ENGINE=InnoDB;
