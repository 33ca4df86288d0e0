-- +goose NO TRANSACTION
-- +goose Up
-- The counter of a series: next_no is the first number that nobody has. It is
-- locked from a claim to the COMMIT of the claim's transaction, which is what makes the
-- series gapless.
CREATE TABLE IF NOT EXISTS onerow_serial (
  series   VARBINARY(255) NOT NULL,
  first_no BIGINT         NOT NULL,
  next_no  BIGINT         NOT NULL,
  PRIMARY KEY (series)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Who got which range. The primary key decides which of two calls with one claim key
-- draws numbers. The range is NULL only inside the transaction that draws it.
-- call_token is new for every call, so that a call that got no answer can tell its own
-- claim from another's. A voided range stays: its numbers are never given again.
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

-- +goose Down
DROP TABLE IF EXISTS onerow_serial_claim;
DROP TABLE IF EXISTS onerow_serial;
