CREATE TABLE project (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  team_id BIGINT NOT NULL,
  name VARCHAR(80) NOT NULL,
  made_by VARCHAR(40) NOT NULL,
  deleted_at DATETIME(6) NULL,
  UNIQUE KEY one_name (team_id, name, deleted_at)
) ENGINE=InnoDB;
CREATE VIEW live_project AS SELECT name FROM project WHERE deleted_at IS NULL;
