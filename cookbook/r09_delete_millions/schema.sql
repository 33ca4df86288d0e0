CREATE TABLE account (
  id BIGINT PRIMARY KEY
) ENGINE=InnoDB;
CREATE TABLE event (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  account_id BIGINT NOT NULL,
  KEY of_account (account_id)
) ENGINE=InnoDB;
CREATE TABLE deletion (
  account_id BIGINT PRIMARY KEY
) ENGINE=InnoDB;
