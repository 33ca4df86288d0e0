CREATE TABLE account (
  id BIGINT PRIMARY KEY,
  max_projects INT NOT NULL
) ENGINE=InnoDB;
CREATE TABLE project (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  account_id BIGINT NOT NULL,
  request_id VARBINARY(64) NOT NULL,
  UNIQUE KEY one_request (account_id, request_id)
) ENGINE=InnoDB;
