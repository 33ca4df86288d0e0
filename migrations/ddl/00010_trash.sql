-- +goose NO TRANSACTION
-- +goose Up
-- What jobs have put into the trash: one row for each statement that kept rows, written in its transaction.
-- The rows lie in onerow_trash_<table> under the same job and step. Steps grow while a job deletes, children
-- before parents, so rows come back in their order from the last to the first. cut is empty where rows were
-- deleted; else it lists the columns that became NULL, as JSON. kept_rows is how many are left; error says
-- why those could not come back. A job that is to keep nothing has a row of the step 0.
CREATE TABLE IF NOT EXISTS onerow_trash (
  job_id     BIGINT          NOT NULL,
  step       BIGINT          NOT NULL,
  table_name VARBINARY(256)  NOT NULL,
  cut        VARBINARY(2048) NOT NULL,
  kept_rows  BIGINT          NOT NULL,
  kept_at    DATETIME(6)     NOT NULL,
  expires_at DATETIME(6)     NOT NULL,
  error      TEXT            NULL,
  PRIMARY KEY (job_id, step),
  KEY expires_at (expires_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS onerow_trash;
