-- +goose NO TRANSACTION
-- +goose Up
-- Who did what to a deletion, a job or the switch, and why: one row for each call that changed something and
-- said who calls, written in its transaction. A delete knows its deletion and not yet its job.
CREATE TABLE IF NOT EXISTS onerow_action (
  id          BIGINT         NOT NULL AUTO_INCREMENT,
  action      VARBINARY(16)  NOT NULL,
  resource    VARBINARY(64)  NULL,
  resource_id VARBINARY(512) NULL,
  deletion_id BIGINT         NULL,
  job_id      BIGINT         NULL,
  table_name  VARBINARY(256) NULL,
  row_key     VARBINARY(512) NULL,
  actor       VARCHAR(255)   NOT NULL,
  reason      TEXT           NOT NULL,
  acted_at    DATETIME(6)    NOT NULL,
  PRIMARY KEY (id),
  KEY deletion (deletion_id, id),
  KEY job (job_id, id),
  KEY acted_at (acted_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS onerow_action;
