CREATE TABLE seat (
  show_id BIGINT NOT NULL,
  no INT NOT NULL,
  who VARCHAR(40) NOT NULL,
  PRIMARY KEY (show_id, no)
) ENGINE=InnoDB;
