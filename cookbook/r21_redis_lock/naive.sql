CREATE TABLE redis (
  name VARCHAR(40) PRIMARY KEY,
  value VARCHAR(40) NOT NULL,
  expires_at DATETIME(6) NOT NULL
) ENGINE=InnoDB;
CREATE TABLE export (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  account_id BIGINT NOT NULL,
  finished_at DATETIME(6) NULL,
  KEY of_account (account_id)
) ENGINE=InnoDB;
