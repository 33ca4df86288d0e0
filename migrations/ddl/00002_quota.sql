-- +goose NO TRANSACTION
-- +goose Up
-- One row per mutation that may move an owner's quota, appended in the
-- mutation's transaction: it waits for nobody.
CREATE TABLE IF NOT EXISTS onerow_quota_mark (
  id         BIGINT         NOT NULL AUTO_INCREMENT,
  resource   VARBINARY(64)  NOT NULL,
  owner      VARBINARY(512) NOT NULL,
  created_at DATETIME(6)    NOT NULL,
  PRIMARY KEY (id),
  KEY owner (resource, owner, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- The first statement of a recalculation bumps the generation, so that two of one
-- owner never overlap. changed_at: when a recalculation last found a mark or a
-- wrong flag; the sweep double-checks owners that changed lately.
CREATE TABLE IF NOT EXISTS onerow_quota_owner (
  resource   VARBINARY(64)  NOT NULL,
  owner      VARBINARY(512) NOT NULL,
  generation BIGINT         NOT NULL,
  changed_at DATETIME(6)    NOT NULL,
  PRIMARY KEY (resource, owner),
  KEY changed_at (resource, changed_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS onerow_quota_owner;
DROP TABLE IF EXISTS onerow_quota_mark;
