-- +goose NO TRANSACTION
-- +goose Up
-- The audit of intent: one row per deletion that somebody asked for. No unique
-- key on purpose: a retried delete may log twice.
CREATE TABLE IF NOT EXISTS onerow_deletion (
  id           BIGINT         NOT NULL AUTO_INCREMENT,
  resource     VARBINARY(64)  NOT NULL,
  resource_id  VARBINARY(512) NOT NULL,
  owner        VARBINARY(512) NULL,
  deleted_from VARBINARY(8)   NOT NULL,
  grace_us     BIGINT         NOT NULL,
  requested_at DATETIME(6)    NOT NULL,
  PRIMARY KEY (id),
  KEY resource (resource, resource_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Open cascade jobs. state: scheduled (in its grace period), held, paused, ready, running. due_at
-- is when a worker may take the job: the end of the grace period, the next
-- attempt, or the end of the lease. token is the lease token: it grows with each
-- claim and never goes back. batch_seq grows with each batch, so that the fence
-- always changes the row.
CREATE TABLE IF NOT EXISTS onerow_job (
  id          BIGINT         NOT NULL AUTO_INCREMENT,
  resource    VARBINARY(64)  NOT NULL,
  resource_id VARBINARY(512) NOT NULL,
  deletion_id BIGINT         NOT NULL,
  state       VARBINARY(16)  NOT NULL,
  due_at      DATETIME(6)    NOT NULL,
  token       BIGINT         NOT NULL DEFAULT 0,
  worker      VARCHAR(255)   NULL,
  batch_seq   BIGINT         NOT NULL DEFAULT 0,
  failures    INT            NOT NULL DEFAULT 0,
  last_error  TEXT           NULL,
  created_at  DATETIME(6)    NOT NULL,
  started_at  DATETIME(6)    NULL,
  PRIMARY KEY (id),
  UNIQUE KEY one_open (resource, resource_id),
  KEY due (resource, due_at, state),
  KEY state (state, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Finished jobs: done, leftovers, cancelled, restored, dead.
CREATE TABLE IF NOT EXISTS onerow_job_archive (
  id          BIGINT         NOT NULL,
  resource    VARBINARY(64)  NOT NULL,
  resource_id VARBINARY(512) NOT NULL,
  deletion_id BIGINT         NOT NULL,
  state       VARBINARY(16)  NOT NULL,
  due_at      DATETIME(6)    NOT NULL,
  token       BIGINT         NOT NULL,
  worker      VARCHAR(255)   NULL,
  batch_seq   BIGINT         NOT NULL,
  failures    INT            NOT NULL,
  last_error  TEXT           NULL,
  created_at  DATETIME(6)    NOT NULL,
  started_at  DATETIME(6)    NULL,
  finished_at DATETIME(6)    NOT NULL,
  PRIMARY KEY (id),
  KEY resource (resource, resource_id, id),
  KEY finished_at (finished_at),
  KEY state (state, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- What a job has deleted, by table; written in the batch's own transaction, so
-- the counts are exact. It stays when the job moves to the archive.
CREATE TABLE IF NOT EXISTS onerow_job_count (
  job_id       BIGINT        NOT NULL,
  table_name   VARBINARY(256) NOT NULL,
  deleted_rows BIGINT        NOT NULL,
  PRIMARY KEY (job_id, table_name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS onerow_job_count;
DROP TABLE IF EXISTS onerow_job_archive;
DROP TABLE IF EXISTS onerow_job;
DROP TABLE IF EXISTS onerow_deletion;
