-- +goose NO TRANSACTION
-- +goose Up
-- Orders. reference is derived from the idempotency key of the request and given to the bank; the
-- three parts of the key are kept so that a late answer finds it. version: so that every UPDATE
-- changes its row.
CREATE TABLE IF NOT EXISTS customer_order (
  id         BIGINT         NOT NULL AUTO_INCREMENT,
  reference  VARBINARY(64)  NOT NULL,
  tenant     VARBINARY(255) NOT NULL,
  operation  VARBINARY(255) NOT NULL,
  idem_key   VARBINARY(255) NOT NULL,
  item       VARCHAR(200)   NOT NULL,
  amount     BIGINT         NOT NULL,
  card       VARBINARY(32)  NOT NULL,
  status     VARBINARY(16)  NOT NULL,
  charge_id  BIGINT         NULL,
  version    BIGINT         NOT NULL DEFAULT 1,
  created_at DATETIME(6)    NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY reference (reference)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- What is validated. total and validated_by are written by the run that validated it.
CREATE TABLE IF NOT EXISTS cart (
  id           BIGINT         NOT NULL AUTO_INCREMENT,
  tenant       VARBINARY(255) NOT NULL,
  items        TEXT           NOT NULL,
  status       VARBINARY(16)  NOT NULL,
  total        BIGINT         NULL,
  validated_by VARBINARY(255) NULL,
  version      BIGINT         NOT NULL DEFAULT 1,
  created_at   DATETIME(6)    NOT NULL,
  PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- The queues. The primary key drops what a repeated run sends again.
CREATE TABLE IF NOT EXISTS message (
  id           VARBINARY(64)  NOT NULL,
  queue        VARBINARY(16)  NOT NULL,
  body         TEXT           NOT NULL,
  attributes   TEXT           NOT NULL,
  delay_s      INT            NOT NULL,
  sent         INT            NOT NULL DEFAULT 1,
  due_at       DATETIME(6)    NOT NULL,
  delivered_at DATETIME(6)    NULL,
  PRIMARY KEY (id),
  KEY due (queue, delivered_at, due_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- The bank's ledger, which only the bank writes. reference is not unique: the bank charges whoever
-- asks as often as it is asked.
CREATE TABLE IF NOT EXISTS bank_charge (
  id         BIGINT        NOT NULL AUTO_INCREMENT,
  reference  VARBINARY(64) NOT NULL,
  amount     BIGINT        NOT NULL,
  charged_at DATETIME(6)   NOT NULL,
  PRIMARY KEY (id),
  KEY reference (reference)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS bank_charge;
DROP TABLE IF EXISTS message;
DROP TABLE IF EXISTS cart;
DROP TABLE IF EXISTS customer_order;
