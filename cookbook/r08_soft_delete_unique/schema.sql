CREATE TABLE project (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  team_id BIGINT NOT NULL,
  name VARCHAR(80) NOT NULL,
  made_by VARCHAR(40) NOT NULL,
  deleted_at DATETIME(6) NULL,
  live TINYINT GENERATED ALWAYS AS (IF(deleted_at IS NULL, 1, NULL)) VIRTUAL,
  UNIQUE KEY one_live_name (team_id, name, live)
) ENGINE=InnoDB;
CREATE VIEW live_project AS SELECT name FROM project WHERE live = 1;
