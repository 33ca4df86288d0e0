CREATE TABLE purchase (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  customer_id BIGINT NOT NULL,
  request_id VARBINARY(64) NOT NULL,
  UNIQUE KEY one_request (customer_id, request_id)
) ENGINE=InnoDB;
CREATE TABLE line (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  purchase_id BIGINT NOT NULL,
  item VARCHAR(40) NOT NULL,
  FOREIGN KEY (purchase_id) REFERENCES purchase (id)
) ENGINE=InnoDB;
