CREATE TABLE project (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  account_id BIGINT NOT NULL,
  name VARCHAR(80) NOT NULL,
  KEY by_account (account_id)
) ENGINE=InnoDB;
