CREATE TABLE page (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  site_id BIGINT NOT NULL,
  name VARCHAR(80) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  name_key VARCHAR(80) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci
    GENERATED ALWAYS AS (TRIM(name)) STORED,
  request_id VARBINARY(64) NOT NULL,
  UNIQUE KEY one_name (site_id, name_key),
  UNIQUE KEY one_request (request_id)
) ENGINE=InnoDB;
