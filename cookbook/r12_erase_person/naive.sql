CREATE TABLE person (
  id BIGINT PRIMARY KEY
) ENGINE=InnoDB;
CREATE TABLE visit (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  person_id BIGINT NOT NULL,
  KEY of_person (person_id)
) ENGINE=InnoDB;
CREATE TABLE note (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  author_id BIGINT NOT NULL,
  KEY of_author (author_id)
) ENGINE=InnoDB;
