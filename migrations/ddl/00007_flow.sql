-- +goose NO TRANSACTION
-- +goose Up
-- Who runs a stage of a flow: the primary key admits one request id. version grows with
-- every proof of ownership, so that a proof always changes the row. call_token is new for
-- every call, so that a call that got no answer can tell its own admission from another's.
CREATE TABLE IF NOT EXISTS onerow_flow (
  flow       VARBINARY(255) NOT NULL,
  stage      VARBINARY(64)  NOT NULL,
  request_id VARBINARY(255) NOT NULL,
  version    BIGINT         NOT NULL DEFAULT 1,
  call_token BINARY(16)     NOT NULL,
  claimed_at DATETIME(6)    NOT NULL,
  PRIMARY KEY (flow, stage)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Every request id that was ever admitted, for a while. status: running, finished,
-- superseded. An id that has ended is never admitted again: the primary key refuses it.
CREATE TABLE IF NOT EXISTS onerow_flow_request (
  flow          VARBINARY(255) NOT NULL,
  stage         VARBINARY(64)  NOT NULL,
  request_id    VARBINARY(255) NOT NULL,
  status        VARBINARY(16)  NOT NULL,
  superseded_by VARBINARY(255) NULL,
  admitted_at   DATETIME(6)    NOT NULL,
  ended_at      DATETIME(6)    NULL,
  PRIMARY KEY (flow, stage, request_id),
  KEY open_requests (flow, status),
  KEY ended_at (ended_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Steps that wait for another system. step_id contains flow, stage, request id and name,
-- so a new run never overwrites an old run's steps.
CREATE TABLE IF NOT EXISTS onerow_flow_step (
  step_id     VARBINARY(512) NOT NULL,
  asked       MEDIUMBLOB     NULL,
  answer      MEDIUMBLOB     NULL,
  created_at  DATETIME(6)    NOT NULL,
  answered_at DATETIME(6)    NULL,
  PRIMARY KEY (step_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS onerow_flow_step;
DROP TABLE IF EXISTS onerow_flow_request;
DROP TABLE IF EXISTS onerow_flow;
