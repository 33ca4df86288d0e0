-- +goose NO TRANSACTION
-- +goose Up
-- A create with a request id is remembered here, before its row is made: the
-- primary key decides which of two calls makes the row. row_id is NULL only
-- inside the transaction that makes it. call_token is new for every call, so that
-- a call whose COMMIT was not answered can tell its own record from another's.
CREATE TABLE IF NOT EXISTS onerow_request (
  resource    VARBINARY(64)  NOT NULL,
  owner       VARBINARY(512) NOT NULL,
  request_id  VARBINARY(255) NOT NULL,
  row_id      VARBINARY(512) NULL,
  fingerprint BINARY(32)     NOT NULL,
  call_token  BINARY(16)     NOT NULL,
  created_at  DATETIME(6)    NOT NULL,
  PRIMARY KEY (resource, owner, request_id),
  KEY created_at (created_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS onerow_request;
