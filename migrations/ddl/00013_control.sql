-- +goose NO TRANSACTION
-- +goose Up
-- What operators say to workers that run. kind: 'pause', with a resource as the name and the reason as the
-- value; 'load', 'target' and 'parallel', with a worker as the name, or nothing for all of them. A row that is
-- gone says nothing. version grows with every change.
CREATE TABLE IF NOT EXISTS onerow_control (
  kind       VARBINARY(16)  NOT NULL,
  name       VARBINARY(255) NOT NULL,
  value      VARBINARY(255) NOT NULL,
  changed_at DATETIME(6)    NOT NULL,
  version    BIGINT         NOT NULL DEFAULT 1,
  PRIMARY KEY (kind, name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- What the fingerprints in onerow_job_plan were taken of, compressed: to say what has changed under a job.
-- stored_at is when a worker said last that it is in use.
CREATE TABLE IF NOT EXISTS onerow_plan (
  fingerprint VARBINARY(64) NOT NULL,
  description MEDIUMBLOB    NOT NULL,
  stored_at   DATETIME(6)   NOT NULL,
  PRIMARY KEY (fingerprint),
  KEY stored_at (stored_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS onerow_plan;
DROP TABLE IF EXISTS onerow_control;
