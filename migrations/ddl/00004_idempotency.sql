-- +goose NO TRANSACTION
-- +goose Up
-- Idempotency keys with their results. The primary key decides which of two calls
-- does the work. status: in_progress, complete, error, released. token is the
-- fencing token: it starts at the server's clock in microseconds and grows by one with
-- each claim, so it does not go back when the row was purged and made again. version
-- grows with every write, so that a conditional write always changes the row.
-- call_token is new for every call, so that a call that got no answer can tell its own
-- row from another's. expires_at NULL: the key is never reusable.
CREATE TABLE IF NOT EXISTS onerow_key (
  tenant              VARBINARY(255) NOT NULL,
  operation           VARBINARY(255) NOT NULL,
  idem_key            VARBINARY(255) NOT NULL,
  status              VARBINARY(16)  NOT NULL,
  attention           TINYINT        NOT NULL DEFAULT 0,
  token               BIGINT         NOT NULL,
  version             BIGINT         NOT NULL DEFAULT 1,
  call_token          BINARY(16)     NOT NULL,
  fingerprint         BINARY(32)     NULL,
  locked_by           VARCHAR(255)   NOT NULL,
  created_at          DATETIME(6)    NOT NULL,
  locked_at           DATETIME(6)    NOT NULL,
  expected_completion DATETIME(6)    NULL,
  lease_until         DATETIME(6)    NULL,
  completed_at        DATETIME(6)    NULL,
  expires_at          DATETIME(6)    NULL,
  codec               VARBINARY(64)  NULL,
  is_reference        TINYINT        NOT NULL DEFAULT 0,
  result              MEDIUMBLOB     NULL,
  error               TEXT           NULL,
  PRIMARY KEY (tenant, operation, idem_key),
  KEY state (status, attention, expected_completion),
  KEY expires_at (expires_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- What operators did to keys, written in the transaction that did it. A token is
-- released, completed or expired at most once, so an action has one row.
CREATE TABLE IF NOT EXISTS onerow_key_audit (
  tenant      VARBINARY(255) NOT NULL,
  operation   VARBINARY(255) NOT NULL,
  idem_key    VARBINARY(255) NOT NULL,
  token       BIGINT         NOT NULL,
  action      VARBINARY(16)  NOT NULL,
  seen_status VARBINARY(16)  NOT NULL,
  actor       VARCHAR(255)   NOT NULL,
  reason      TEXT           NOT NULL,
  acted_at    DATETIME(6)    NOT NULL,
  PRIMARY KEY (tenant, operation, idem_key, token, action),
  KEY acted_at (acted_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- The admission guard: who was let in, and until when nobody else is.
CREATE TABLE IF NOT EXISTS onerow_admission (
  tenant      VARBINARY(255) NOT NULL,
  operation   VARBINARY(255) NOT NULL,
  idem_key    VARBINARY(255) NOT NULL,
  call_token  BINARY(16)     NOT NULL,
  admitted_at DATETIME(6)    NOT NULL,
  until_at    DATETIME(6)    NOT NULL,
  PRIMARY KEY (tenant, operation, idem_key),
  KEY until_at (until_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS onerow_admission;
DROP TABLE IF EXISTS onerow_key_audit;
DROP TABLE IF EXISTS onerow_key;
