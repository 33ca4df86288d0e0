CREATE TABLE purchase (
  id BIGINT PRIMARY KEY,
  status VARCHAR(20) NOT NULL,
  status_at BIGINT NOT NULL -- microseconds, by the provider's clock
) ENGINE=InnoDB;
