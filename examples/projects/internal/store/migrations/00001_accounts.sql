-- +goose NO TRANSACTION
-- +goose Up
-- Who projects belong to. Accounts are never deleted here. version: so that every
-- UPDATE changes its row.
CREATE TABLE IF NOT EXISTS account (
  id         BIGINT         NOT NULL AUTO_INCREMENT,
  name       VARCHAR(200)   NOT NULL,
  plan       VARBINARY(16)  NOT NULL,
  version    BIGINT         NOT NULL DEFAULT 1,
  created_at DATETIME(6)    NOT NULL,
  PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Files that are to be deleted, unless they are published before they are due.
-- state: pending (an upload has it), expired (the upload is over), replaced (by a
-- newer version). No screen row has a key that is here.
CREATE TABLE IF NOT EXISTS blob_intent (
  blob_key   VARBINARY(80)  NOT NULL,
  project_id BIGINT         NOT NULL,
  state      VARBINARY(16)  NOT NULL,
  due_at     DATETIME(6)    NOT NULL,
  PRIMARY KEY (blob_key),
  KEY due_at (due_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS blob_intent;
DROP TABLE IF EXISTS account;
