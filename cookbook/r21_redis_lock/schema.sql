CREATE TABLE export (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  account_id BIGINT NOT NULL,
  request_id VARBINARY(64) NOT NULL,
  finished_at DATETIME(6) NULL,
  running_for BIGINT GENERATED ALWAYS AS (IF(finished_at IS NULL, account_id, NULL)) STORED,
  UNIQUE KEY one_running (running_for),
  UNIQUE KEY one_request (request_id)
) ENGINE=InnoDB;
