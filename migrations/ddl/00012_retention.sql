-- +goose NO TRANSACTION
-- +goose Up
-- When the rows of a resource that are due may be queued again, see schema.Retention: who moves next_at on,
-- by a conditional update, queues what the policy allows for that time. So all workers keep its rate together.
CREATE TABLE IF NOT EXISTS onerow_retention (
  resource VARBINARY(64) NOT NULL,
  next_at  DATETIME(6)   NOT NULL,
  PRIMARY KEY (resource)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS onerow_retention;
