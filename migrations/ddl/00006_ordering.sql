-- +goose NO TRANSACTION
-- +goose Up
-- The context of a stream: how far a consumer is, and the consumer's own state. It is
-- locked first and written last in the transaction that applies a message. epoch
-- grows when the sender starts its sequence anew. held counts the parked messages; parking
-- writes it, so that an arrival and a closing gap conflict on a cluster too.
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

-- Messages that are parked until the gap before them closes, and those that were
-- applied where they are kept. The primary key tells a duplicate.
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

-- Messages that could not be applied, for a human: with the versions that an
-- optimistic update lost against.
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

-- +goose Down
DROP TABLE IF EXISTS onerow_dead_letter;
DROP TABLE IF EXISTS onerow_stream_message;
DROP TABLE IF EXISTS onerow_stream;
