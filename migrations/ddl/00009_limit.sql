-- +goose NO TRANSACTION
-- +goose Up
-- How much room an owner has left of a limit: in the row 0, and, where there is much, in 63 more, so that
-- many creates of one owner do not wait for each other. A guarded update of one row decides. maximum is the
-- application's as it was last seen, in the row 0; -1 before it was asked. To raise the version is to lock the
-- row. counted_at is NULL where the owner is to be counted.
CREATE TABLE IF NOT EXISTS onerow_limit (
  name       VARBINARY(64)  NOT NULL,
  owner      VARBINARY(512) NOT NULL,
  stripe     INT            NOT NULL,
  room       BIGINT         NOT NULL,
  maximum    BIGINT         NOT NULL,
  version    BIGINT         NOT NULL,
  counted_at DATETIME(6)    NULL,
  PRIMARY KEY (name, owner, stripe),
  KEY counted_at (name, counted_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Room that is held for work in two steps. Whoever deletes the row has what it holds.
CREATE TABLE IF NOT EXISTS onerow_reservation (
  name            VARBINARY(64)  NOT NULL,
  owner           VARBINARY(512) NOT NULL,
  reservation_key VARBINARY(255) NOT NULL,
  amount          BIGINT         NOT NULL,
  expires_at      DATETIME(6)    NOT NULL,
  PRIMARY KEY (name, owner, reservation_key),
  KEY expires_at (name, expires_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS onerow_reservation;
DROP TABLE IF EXISTS onerow_limit;
