-- A shop that sells music: an employee tree, a composite link table, and keys that are no
-- numbers: a token that ignores case, a digest, and a code that rows refer to though it is
-- not the primary key.
CREATE TABLE artist (
  artist_id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(120) NULL
);
CREATE TABLE genre (
  genre_id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(120) NULL
);
CREATE TABLE media_type (
  media_type_id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(120) NULL
);
CREATE TABLE album (
  album_id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  title VARCHAR(160) NOT NULL,
  artist_id INT NOT NULL,
  KEY idx_artist (artist_id),
  CONSTRAINT album_artist FOREIGN KEY (artist_id) REFERENCES artist (artist_id)
);
CREATE TABLE track (
  track_id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(200) NOT NULL,
  isrc CHAR(12) CHARACTER SET ascii COLLATE ascii_bin NULL,
  album_id INT NULL,
  media_type_id INT NOT NULL,
  genre_id INT NULL,
  milliseconds INT NOT NULL,
  unit_price DECIMAL(10,2) NOT NULL,
  UNIQUE KEY one_isrc (isrc),
  KEY idx_album (album_id),
  KEY idx_genre (genre_id),
  KEY idx_media_type (media_type_id),
  CONSTRAINT track_album FOREIGN KEY (album_id) REFERENCES album (album_id),
  CONSTRAINT track_genre FOREIGN KEY (genre_id) REFERENCES genre (genre_id) ON DELETE SET NULL,
  CONSTRAINT track_media_type FOREIGN KEY (media_type_id) REFERENCES media_type (media_type_id)
);
CREATE TABLE royalty (
  isrc CHAR(12) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  quarter DATE NOT NULL,
  amount DECIMAL(12,4) NOT NULL,
  PRIMARY KEY (isrc, quarter),
  CONSTRAINT royalty_track FOREIGN KEY (isrc) REFERENCES track (isrc)
);
CREATE TABLE track_file (
  digest VARBINARY(20) NOT NULL PRIMARY KEY,
  track_id INT NOT NULL,
  bytes BIGINT UNSIGNED NOT NULL,
  KEY idx_track (track_id),
  CONSTRAINT track_file_track FOREIGN KEY (track_id) REFERENCES track (track_id)
);
CREATE TABLE track_file_mirror (
  digest VARBINARY(20) NOT NULL,
  host VARCHAR(60) NOT NULL,
  PRIMARY KEY (digest, host),
  CONSTRAINT mirror_file FOREIGN KEY (digest) REFERENCES track_file (digest)
);
CREATE TABLE playlist (
  playlist_id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(120) NULL
);
CREATE TABLE playlist_track (
  playlist_id INT NOT NULL,
  track_id INT NOT NULL,
  PRIMARY KEY (playlist_id, track_id),
  KEY idx_track (track_id),
  CONSTRAINT playlist_track_playlist FOREIGN KEY (playlist_id) REFERENCES playlist (playlist_id),
  CONSTRAINT playlist_track_track FOREIGN KEY (track_id) REFERENCES track (track_id)
);
CREATE TABLE playlist_share (
  token VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL PRIMARY KEY,
  playlist_id INT NOT NULL,
  KEY idx_playlist (playlist_id),
  CONSTRAINT share_playlist FOREIGN KEY (playlist_id) REFERENCES playlist (playlist_id)
);
CREATE TABLE share_visit (
  token VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL,
  visited_at DATETIME(6) NOT NULL,
  country CHAR(2) NULL,
  PRIMARY KEY (token, visited_at),
  CONSTRAINT visit_share FOREIGN KEY (token) REFERENCES playlist_share (token)
);
CREATE TABLE employee (
  employee_id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(60) NOT NULL,
  title VARCHAR(30) NULL,
  reports_to INT NULL,
  hired DATETIME NULL,
  KEY idx_reports_to (reports_to),
  CONSTRAINT employee_reports_to FOREIGN KEY (reports_to) REFERENCES employee (employee_id)
);
CREATE TABLE customer (
  customer_id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(60) NOT NULL,
  email VARCHAR(60) NOT NULL,
  support_rep_id INT NULL,
  KEY idx_support_rep (support_rep_id),
  CONSTRAINT customer_support_rep FOREIGN KEY (support_rep_id) REFERENCES employee (employee_id) ON DELETE SET NULL
);
CREATE TABLE invoice (
  invoice_id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  customer_id INT NOT NULL,
  invoice_date DATETIME NOT NULL,
  total DECIMAL(10,2) NOT NULL,
  KEY idx_customer (customer_id),
  CONSTRAINT invoice_customer FOREIGN KEY (customer_id) REFERENCES customer (customer_id)
);
CREATE TABLE invoice_line (
  invoice_line_id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  invoice_id INT NOT NULL,
  track_id INT NOT NULL,
  quantity INT NOT NULL,
  KEY idx_invoice (invoice_id),
  KEY idx_track (track_id),
  CONSTRAINT invoice_line_invoice FOREIGN KEY (invoice_id) REFERENCES invoice (invoice_id),
  CONSTRAINT invoice_line_track FOREIGN KEY (track_id) REFERENCES track (track_id)
);
