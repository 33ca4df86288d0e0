package main

// tables are the example's own: the purchases with their numbers, and the same for the
// shop with the plain counter.
var tables = []string{
	`CREATE TABLE purchase (
  transaction_id VARCHAR(40) NOT NULL,
  from_no        BIGINT      NOT NULL,
  to_no          BIGINT      NOT NULL,
  refunded_at    DATETIME(6) NULL,
  PRIMARY KEY (transaction_id),
  KEY numbers (from_no, to_no)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`,
	`CREATE TABLE plain_purchase (
  transaction_id VARCHAR(40) NOT NULL,
  from_no        BIGINT      NOT NULL,
  to_no          BIGINT      NOT NULL,
  PRIMARY KEY (transaction_id),
  KEY numbers (from_no, to_no)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`,
	`CREATE TABLE plain_counter (
  name    VARCHAR(40) NOT NULL,
  next_no BIGINT      NOT NULL,
  PRIMARY KEY (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`,
	`INSERT INTO plain_counter (name, next_no) VALUES ('postcards', 1)`,
}

// event says that a transaction bought postcards. Its id is what the payment provider gave the
// transaction: the same in each delivery.
type event struct {
	transaction string
	amount      int64
}

// sale is what a delivery of an event led to.
type sale struct {
	from, to int64
	again    bool  // an earlier delivery had bought them
	burned   int64 // numbers that were drawn and are nobody's
}

// death is where a process dies while it handles an event.
type death int

const (
	// beforePurchase: the numbers are drawn, the purchase is not written.
	beforePurchase death = iota
	// beforeAnswer: the purchase is committed, the queue has not heard of it.
	beforeAnswer
)
