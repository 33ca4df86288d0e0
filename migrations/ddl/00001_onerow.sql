-- +goose NO TRANSACTION
-- +goose Up

-- The toolkit's tables, topic by topic. DDL commits by itself: an Up that is cut off leaves some of them and
-- no version. So every statement may run twice, and the next Up makes the rest.

-- ==== Requests ====

-- A create with a request id is remembered here, before its row is made: the primary key decides which of two
-- calls makes the row. row_id is NULL only inside the transaction that makes it. call_token is new for every
-- call, so that a call whose COMMIT was not answered can tell its own record from another's.
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

-- ==== Quotas ====

-- One row per mutation that may move an owner's quota, appended in the mutation's transaction: it waits for
-- nobody.
CREATE TABLE IF NOT EXISTS onerow_quota_mark (
  id         BIGINT         NOT NULL AUTO_INCREMENT,
  resource   VARBINARY(64)  NOT NULL,
  owner      VARBINARY(512) NOT NULL,
  created_at DATETIME(6)    NOT NULL,
  PRIMARY KEY (id),
  KEY owner (resource, owner, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- The first statement of a recalculation bumps the generation, so that two of one owner never overlap.
-- changed_at: when a recalculation last found a mark or a wrong flag; the sweep double-checks owners that
-- changed lately.
CREATE TABLE IF NOT EXISTS onerow_quota_owner (
  resource   VARBINARY(64)  NOT NULL,
  owner      VARBINARY(512) NOT NULL,
  generation BIGINT         NOT NULL,
  changed_at DATETIME(6)    NOT NULL,
  PRIMARY KEY (resource, owner),
  KEY changed_at (resource, changed_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- ==== Deletions and their jobs ====

-- The audit of intent: one row per deletion that somebody asked for. No unique key on purpose: a retried
-- delete may log twice. traceparent is the W3C traceparent of who asked, for the spans of its job.
CREATE TABLE IF NOT EXISTS onerow_deletion (
  id           BIGINT         NOT NULL AUTO_INCREMENT,
  resource     VARBINARY(64)  NOT NULL,
  resource_id  VARBINARY(512) NOT NULL,
  owner        VARBINARY(512) NULL,
  deleted_from VARBINARY(8)   NOT NULL,
  grace_us     BIGINT         NOT NULL,
  requested_at DATETIME(6)    NOT NULL,
  traceparent  VARBINARY(128) NULL,
  PRIMARY KEY (id),
  KEY resource (resource, resource_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Open cascade jobs. state: scheduled (in its grace period), held, paused, ready, running. due_at is when a
-- worker may take the job: the end of the grace period, the next attempt, or the end of the lease. token is
-- the lease token: it grows with each claim and never goes back. batch_seq grows with each batch, so that the
-- fence always changes the row.
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

-- What a job has deleted, by table; written in the batch's own transaction, so the counts are exact. It stays
-- when the job moves to the archive.
CREATE TABLE IF NOT EXISTS onerow_job_count (
  job_id       BIGINT         NOT NULL,
  table_name   VARBINARY(256) NOT NULL,
  deleted_rows BIGINT         NOT NULL,
  PRIMARY KEY (job_id, table_name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- ==== Idempotency keys ====

-- Idempotency keys with their results. The primary key decides which of two calls does the work. status:
-- in_progress, complete, error, released. token is the fencing token: it starts at the server's clock in
-- microseconds and grows by one with each claim, so it does not go back when the row was purged and made
-- again. version grows with every write, so that a conditional write always changes the row. call_token is
-- new for every call, so that a call that got no answer can tell its own row from another's. expires_at NULL:
-- the key is never reusable. traceparent is the W3C traceparent of the claim, for the spans of replays and
-- take-overs.
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
  traceparent         VARBINARY(128) NULL,
  PRIMARY KEY (tenant, operation, idem_key),
  KEY state (status, attention, expected_completion),
  KEY expires_at (expires_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- What operators did to keys, written in the transaction that did it. A token is released, completed or
-- expired at most once, so an action has one row.
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

-- ==== Series ====

-- The counter of a series: next_no is the first number that nobody has. It is locked from a claim to the
-- COMMIT of the claim's transaction, which is what makes the series gapless.
CREATE TABLE IF NOT EXISTS onerow_serial (
  series   VARBINARY(255) NOT NULL,
  first_no BIGINT         NOT NULL,
  next_no  BIGINT         NOT NULL,
  PRIMARY KEY (series)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Who got which range. The primary key decides which of two calls with one claim key draws numbers. The range
-- is NULL only inside the transaction that draws it. call_token is new for every call, so that a call that
-- got no answer can tell its own claim from another's. A voided range stays: its numbers are never given
-- again.
CREATE TABLE IF NOT EXISTS onerow_serial_claim (
  series      VARBINARY(255) NOT NULL,
  claim_key   VARBINARY(255) NOT NULL,
  amount      BIGINT         NOT NULL,
  from_no     BIGINT         NULL,
  to_no       BIGINT         NULL,
  call_token  BINARY(16)     NOT NULL,
  claimed_at  DATETIME(6)    NOT NULL,
  voided_at   DATETIME(6)    NULL,
  void_reason TEXT           NULL,
  PRIMARY KEY (series, claim_key),
  UNIQUE KEY from_no (series, from_no)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- ==== Streams ====

-- The context of a stream: how far a consumer is, and the consumer's own state. It is locked first and
-- written last in the transaction that applies a message. epoch grows when the sender starts its sequence
-- anew. held counts the parked messages; parking writes it, so that an arrival and a closing gap conflict on
-- a cluster too.
CREATE TABLE IF NOT EXISTS onerow_stream (
  consumer   VARBINARY(64)  NOT NULL,
  stream     VARBINARY(255) NOT NULL,
  epoch      BIGINT         NOT NULL,
  last_seq   BIGINT         NOT NULL,
  held       BIGINT         NOT NULL DEFAULT 0,
  state      MEDIUMBLOB     NULL,
  updated_at DATETIME(6)    NOT NULL,
  PRIMARY KEY (consumer, stream),
  KEY held (consumer, held)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Messages that are parked until the gap before them closes, and those that were applied where they are kept.
-- The primary key tells a duplicate.
CREATE TABLE IF NOT EXISTS onerow_stream_message (
  consumer    VARBINARY(64)  NOT NULL,
  stream      VARBINARY(255) NOT NULL,
  epoch       BIGINT         NOT NULL,
  seq         BIGINT         NOT NULL,
  applied     TINYINT        NOT NULL,
  payload     MEDIUMBLOB     NULL,
  received_at DATETIME(6)    NOT NULL,
  PRIMARY KEY (consumer, stream, epoch, seq),
  KEY received_at (consumer, applied, received_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Messages that could not be applied, for a human: with the versions that an optimistic update lost against.
CREATE TABLE IF NOT EXISTS onerow_dead_letter (
  id          BIGINT         NOT NULL AUTO_INCREMENT,
  queue       VARBINARY(64)  NOT NULL,
  message_id  VARBINARY(255) NOT NULL,
  payload     MEDIUMBLOB     NULL,
  reason      TEXT           NOT NULL,
  losing      MEDIUMTEXT     NULL,
  parked_at   DATETIME(6)    NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY message (queue, message_id),
  KEY parked (queue, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- ==== Flows ====

-- Who runs a stage of a flow: the primary key admits one request id. version grows with every proof of
-- ownership, so that a proof always changes the row. call_token is new for every call, so that a call that
-- got no answer can tell its own admission from another's.
CREATE TABLE IF NOT EXISTS onerow_flow (
  flow       VARBINARY(255) NOT NULL,
  stage      VARBINARY(64)  NOT NULL,
  request_id VARBINARY(255) NOT NULL,
  version    BIGINT         NOT NULL DEFAULT 1,
  call_token BINARY(16)     NOT NULL,
  claimed_at DATETIME(6)    NOT NULL,
  PRIMARY KEY (flow, stage)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Every request id that was ever admitted, for a while. status: running, finished, superseded. An id that has
-- ended is never admitted again: the primary key refuses it.
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

-- Steps that wait for another system. step_id contains flow, stage, request id and name, so a new run never
-- overwrites an old run's steps.
CREATE TABLE IF NOT EXISTS onerow_flow_step (
  step_id     VARBINARY(512) NOT NULL,
  asked       MEDIUMBLOB     NULL,
  answer      MEDIUMBLOB     NULL,
  created_at  DATETIME(6)    NOT NULL,
  answered_at DATETIME(6)    NULL,
  PRIMARY KEY (step_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- ==== Workers ====

-- The plan and the schema that a job was begun under. A worker that finds another one stops the job; Retry
-- forgets it.
CREATE TABLE IF NOT EXISTS onerow_job_plan (
  job_id      BIGINT        NOT NULL,
  fingerprint VARBINARY(64) NOT NULL,
  stored_at   DATETIME(6)   NOT NULL,
  PRIMARY KEY (job_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- How many references to deleted rows a job has set NULL, by table; written in the batch's own transaction,
-- as onerow_job_count is.
CREATE TABLE IF NOT EXISTS onerow_job_detached (
  job_id        BIGINT         NOT NULL,
  table_name    VARBINARY(256) NOT NULL,
  detached_rows BIGINT         NOT NULL,
  PRIMARY KEY (job_id, table_name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Rows that could not be deleted, for a person to look at. state: parked, skipped. A row that is to be tried
-- again is removed from here. version grows with every change.
CREATE TABLE IF NOT EXISTS onerow_parked (
  id         BIGINT         NOT NULL AUTO_INCREMENT,
  job_id     BIGINT         NOT NULL,
  table_name VARBINARY(256) NOT NULL,
  row_key    VARBINARY(512) NOT NULL,
  error      TEXT           NOT NULL,
  state      VARBINARY(16)  NOT NULL,
  version    BIGINT         NOT NULL DEFAULT 1,
  parked_at  DATETIME(6)    NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY one_row (job_id, table_name, row_key),
  KEY state (state, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Switches that every worker obeys: 'pause' is the only one. version grows with every change.
CREATE TABLE IF NOT EXISTS onerow_switch (
  name       VARBINARY(64) NOT NULL,
  is_on      TINYINT       NOT NULL,
  reason     VARCHAR(255)  NOT NULL,
  changed_at DATETIME(6)   NOT NULL,
  version    BIGINT        NOT NULL DEFAULT 1,
  PRIMARY KEY (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- The workers that show signs of life. throttle says why one waits; beats grows with every sign, so that it
-- always changes the row, by the statements that the worker has sent. Nothing is decided by this table but
-- whom a worker takes for users.
CREATE TABLE IF NOT EXISTS onerow_worker (
  name       VARBINARY(255) NOT NULL,
  started_at DATETIME(6)    NOT NULL,
  seen_at    DATETIME(6)    NOT NULL,
  throttle   VARCHAR(255)   NULL,
  job_id     BIGINT         NULL,
  beats      BIGINT         NOT NULL,
  PRIMARY KEY (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- ==== Limits ====

-- How much room an owner has left of a limit: in the row 0, and, where there is much, in 63 more, so that
-- many creates of one owner do not wait for each other. A guarded update of one row decides. maximum is the
-- application's as it was last seen, in the row 0; -1 before it was asked. To raise the version is to lock
-- the row. counted_at is NULL where the owner is to be counted.
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

-- ==== The trash ====

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

-- ==== Actions of operators ====

-- Who did what to a deletion, a job or the switch, and why: one row for each call that changed something and
-- said who calls, written in its transaction. A delete knows its deletion and not yet its job.
CREATE TABLE IF NOT EXISTS onerow_action (
  id          BIGINT         NOT NULL AUTO_INCREMENT,
  action      VARBINARY(16)  NOT NULL,
  resource    VARBINARY(64)  NULL,
  resource_id VARBINARY(512) NULL,
  deletion_id BIGINT         NULL,
  job_id      BIGINT         NULL,
  table_name  VARBINARY(256) NULL,
  row_key     VARBINARY(512) NULL,
  actor       VARCHAR(255)   NOT NULL,
  reason      TEXT           NOT NULL,
  acted_at    DATETIME(6)    NOT NULL,
  PRIMARY KEY (id),
  KEY deletion (deletion_id, id),
  KEY job (job_id, id),
  KEY acted_at (acted_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- ==== Retention ====

-- When the rows of a resource that are due may be queued again, see schema.Retention: who moves next_at on,
-- by a conditional update, queues what the policy allows for that time. So all workers keep its rate
-- together.
CREATE TABLE IF NOT EXISTS onerow_retention (
  resource VARBINARY(64) NOT NULL,
  next_at  DATETIME(6)   NOT NULL,
  PRIMARY KEY (resource)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- ==== What workers are told, and their plans ====

-- What operators say to workers that run. kind: 'pause', with a resource as the name and the reason as the
-- value; 'load', 'target' and 'parallel', with a worker as the name, or nothing for all of them. A row that
-- is gone says nothing. version grows with every change.
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
DROP TABLE IF EXISTS onerow_retention;
DROP TABLE IF EXISTS onerow_action;
DROP TABLE IF EXISTS onerow_trash;
DROP TABLE IF EXISTS onerow_reservation;
DROP TABLE IF EXISTS onerow_limit;
DROP TABLE IF EXISTS onerow_worker;
DROP TABLE IF EXISTS onerow_switch;
DROP TABLE IF EXISTS onerow_parked;
DROP TABLE IF EXISTS onerow_job_detached;
DROP TABLE IF EXISTS onerow_job_plan;
DROP TABLE IF EXISTS onerow_flow_step;
DROP TABLE IF EXISTS onerow_flow_request;
DROP TABLE IF EXISTS onerow_flow;
DROP TABLE IF EXISTS onerow_dead_letter;
DROP TABLE IF EXISTS onerow_stream_message;
DROP TABLE IF EXISTS onerow_stream;
DROP TABLE IF EXISTS onerow_serial_claim;
DROP TABLE IF EXISTS onerow_serial;
DROP TABLE IF EXISTS onerow_admission;
DROP TABLE IF EXISTS onerow_key_audit;
DROP TABLE IF EXISTS onerow_key;
DROP TABLE IF EXISTS onerow_job_count;
DROP TABLE IF EXISTS onerow_job_archive;
DROP TABLE IF EXISTS onerow_job;
DROP TABLE IF EXISTS onerow_deletion;
DROP TABLE IF EXISTS onerow_quota_owner;
DROP TABLE IF EXISTS onerow_quota_mark;
DROP TABLE IF EXISTS onerow_request;
