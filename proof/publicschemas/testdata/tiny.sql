-- A schema of our own: it's small, and has what public schemas have; a "quote" in a comment opens nothing.
SET sql_mode = 'STRICT_ALL_TABLES,ANSI_QUOTES';

CREATE TABLE team (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  code VARBINARY(4) NOT NULL UNIQUE,
  parent_id INT UNSIGNED NULL, # below another one, or itself
  captain_id BIGINT NULL,
  changed TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  note TEXT COMMENT 'a; b -- c',
  KEY (captain_id),
  CONSTRAINT team_parent FOREIGN KEY (parent_id) REFERENCES team (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE player (
  team_id INT UNSIGNED NOT NULL,
  no SMALLINT NOT NULL,
  player_id BIGINT NOT NULL,
  mood ENUM('well', 'it''s bad') NULL,
  weight DECIMAL(6,2) NULL,
  PRIMARY KEY (team_id, no),
  UNIQUE KEY (player_id),
  CONSTRAINT player_team FOREIGN KEY (team_id) REFERENCES team (id) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE goal (
  id INT NOT NULL PRIMARY KEY,
  team_id INT UNSIGNED NOT NULL,
  no SMALLINT NOT NULL,
  scored DATETIME NULL,
  by_code VARBINARY(4) NULL,
  changed TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  KEY (by_code),
  CONSTRAINT goal_player FOREIGN KEY (team_id, no) REFERENCES player (team_id, no),
  CONSTRAINT goal_code FOREIGN KEY (by_code) REFERENCES team (code) ON DELETE SET NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

/* a circle of tables; ends here */
ALTER TABLE team ADD CONSTRAINT team_captain FOREIGN KEY (captain_id) REFERENCES player (player_id);
CREATE INDEX goal_scored ON goal (scored);
INSERT INTO team (id, code) VALUES (1, 'a;b');

DELIMITER $$
CREATE TRIGGER team_note BEFORE INSERT ON team FOR EACH ROW
BEGIN
  SET NEW.note = 'one; two';
END$$
DELIMITER ;
CREATE TABLE "last one" (id INT PRIMARY KEY, goal_id INT NOT NULL UNIQUE, FOREIGN KEY (goal_id) REFERENCES goal (id))
