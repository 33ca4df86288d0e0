-- +goose NO TRANSACTION
-- +goose Up
-- The plan and the schema that a job was begun under. A worker that finds another one
-- stops the job; Retry forgets it.
CREATE TABLE IF NOT EXISTS onerow_job_plan (
  job_id      BIGINT        NOT NULL,
  fingerprint VARBINARY(64) NOT NULL,
  stored_at   DATETIME(6)   NOT NULL,
  PRIMARY KEY (job_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- How many references to deleted rows a job has set NULL, by table; written in the
-- batch's own transaction, as onerow_job_count is.
CREATE TABLE IF NOT EXISTS onerow_job_detached (
  job_id        BIGINT         NOT NULL,
  table_name    VARBINARY(256) NOT NULL,
  detached_rows BIGINT         NOT NULL,
  PRIMARY KEY (job_id, table_name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Rows that could not be deleted, for a person to look at. state: parked, skipped. A row
-- that is to be tried again is removed from here. version grows with every change.
CREATE TABLE IF NOT EXISTS onerow_parked (
  id         BIGINT         NOT NULL AUTO_INCREMENT,
  job_id     BIGINT         NOT NULL,
  table_name VARBINARY(256) NOT NULL,
  row_key    VARBINARY(512) NOT NULL,
  error      TEXT           NOT NULL,
  state      VARBINARY(16)  NOT NULL,
  version    BIGINT         NOT NULL DEFAULT 1,
  parked_at  DATETIME(6)    NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY one_row (job_id, table_name, row_key),
  KEY state (state, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Switches that every worker obeys: 'pause' is the only one. version grows with every
-- change.
CREATE TABLE IF NOT EXISTS onerow_switch (
  name       VARBINARY(64) NOT NULL,
  is_on      TINYINT       NOT NULL,
  reason     VARCHAR(255)  NOT NULL,
  changed_at DATETIME(6)   NOT NULL,
  version    BIGINT        NOT NULL DEFAULT 1,
  PRIMARY KEY (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- The workers that show signs of life. throttle says why one waits; beats grows with
-- every sign, so that it always changes the row, by the statements that the worker has
-- sent. Nothing is decided by this table but whom a worker takes for users.
CREATE TABLE IF NOT EXISTS onerow_worker (
  name       VARBINARY(255) NOT NULL,
  started_at DATETIME(6)    NOT NULL,
  seen_at    DATETIME(6)    NOT NULL,
  throttle   VARCHAR(255)   NULL,
  job_id     BIGINT         NULL,
  beats      BIGINT         NOT NULL,
  PRIMARY KEY (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS onerow_worker;
DROP TABLE IF EXISTS onerow_switch;
DROP TABLE IF EXISTS onerow_parked;
DROP TABLE IF EXISTS onerow_job_detached;
DROP TABLE IF EXISTS onerow_job_plan;
