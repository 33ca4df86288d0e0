-- A shop that rents DVDs: small unsigned keys of every width, link tables with composite
-- keys, a cycle between a store and its manager, and payments that outlive their rental.
CREATE TABLE country (
  country_id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  country VARCHAR(50) NOT NULL
);
CREATE TABLE city (
  city_id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  city VARCHAR(50) NOT NULL,
  country_id SMALLINT UNSIGNED NOT NULL,
  KEY idx_country (country_id),
  CONSTRAINT city_country FOREIGN KEY (country_id) REFERENCES country (country_id)
);
CREATE TABLE address (
  address_id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  street VARCHAR(80) NOT NULL,
  postcode VARCHAR(10) NULL,
  city_id SMALLINT UNSIGNED NOT NULL,
  KEY idx_city (city_id),
  CONSTRAINT address_city FOREIGN KEY (city_id) REFERENCES city (city_id)
);
CREATE TABLE language (
  language_id TINYINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name CHAR(20) NOT NULL
);
CREATE TABLE category (
  category_id TINYINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(25) NOT NULL
);
CREATE TABLE actor (
  actor_id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  first_name VARCHAR(45) NOT NULL,
  last_name VARCHAR(45) NULL,
  KEY idx_last_name (last_name)
);
CREATE TABLE film (
  film_id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  title VARCHAR(128) NOT NULL,
  release_year YEAR NULL,
  language_id TINYINT UNSIGNED NOT NULL,
  original_language_id TINYINT UNSIGNED NULL,
  rental_rate DECIMAL(4,2) NOT NULL DEFAULT 4.99,
  rating ENUM('G','PG','R') NULL,
  features SET('trailers','commentary','deleted scenes') NULL,
  KEY idx_language (language_id),
  KEY idx_original (original_language_id),
  CONSTRAINT film_language FOREIGN KEY (language_id) REFERENCES language (language_id),
  CONSTRAINT film_original FOREIGN KEY (original_language_id) REFERENCES language (language_id) ON DELETE SET NULL
);
CREATE TABLE film_actor (
  actor_id SMALLINT UNSIGNED NOT NULL,
  film_id SMALLINT UNSIGNED NOT NULL,
  PRIMARY KEY (actor_id, film_id),
  KEY idx_film (film_id),
  CONSTRAINT film_actor_actor FOREIGN KEY (actor_id) REFERENCES actor (actor_id),
  CONSTRAINT film_actor_film FOREIGN KEY (film_id) REFERENCES film (film_id)
);
CREATE TABLE film_category (
  film_id SMALLINT UNSIGNED NOT NULL,
  category_id TINYINT UNSIGNED NOT NULL,
  PRIMARY KEY (film_id, category_id),
  KEY idx_category (category_id),
  CONSTRAINT film_category_film FOREIGN KEY (film_id) REFERENCES film (film_id),
  CONSTRAINT film_category_category FOREIGN KEY (category_id) REFERENCES category (category_id)
);
CREATE TABLE store (
  store_id TINYINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  manager_staff_id TINYINT UNSIGNED NULL,
  address_id SMALLINT UNSIGNED NOT NULL,
  UNIQUE KEY one_manager (manager_staff_id),
  KEY idx_address (address_id),
  CONSTRAINT store_address FOREIGN KEY (address_id) REFERENCES address (address_id)
);
CREATE TABLE staff (
  staff_id TINYINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(45) NOT NULL,
  picture BLOB NULL,
  address_id SMALLINT UNSIGNED NOT NULL,
  store_id TINYINT UNSIGNED NOT NULL,
  KEY idx_store (store_id),
  KEY idx_address (address_id),
  CONSTRAINT staff_address FOREIGN KEY (address_id) REFERENCES address (address_id),
  CONSTRAINT staff_store FOREIGN KEY (store_id) REFERENCES store (store_id)
);
ALTER TABLE store ADD CONSTRAINT store_manager FOREIGN KEY (manager_staff_id) REFERENCES staff (staff_id);
CREATE TABLE customer (
  customer_id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  store_id TINYINT UNSIGNED NOT NULL,
  name VARCHAR(90) NOT NULL,
  address_id SMALLINT UNSIGNED NOT NULL,
  joined DATETIME NOT NULL,
  KEY idx_store (store_id),
  KEY idx_address (address_id),
  CONSTRAINT customer_store FOREIGN KEY (store_id) REFERENCES store (store_id),
  CONSTRAINT customer_address FOREIGN KEY (address_id) REFERENCES address (address_id)
);
CREATE TABLE inventory (
  inventory_id MEDIUMINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  film_id SMALLINT UNSIGNED NOT NULL,
  store_id TINYINT UNSIGNED NOT NULL,
  KEY idx_film (film_id),
  KEY idx_store_film (store_id, film_id),
  CONSTRAINT inventory_store FOREIGN KEY (store_id) REFERENCES store (store_id),
  CONSTRAINT inventory_film FOREIGN KEY (film_id) REFERENCES film (film_id)
);
CREATE TABLE rental (
  rental_id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  rental_date DATETIME NOT NULL,
  inventory_id MEDIUMINT UNSIGNED NOT NULL,
  customer_id SMALLINT UNSIGNED NOT NULL,
  return_date DATETIME NULL,
  staff_id TINYINT UNSIGNED NOT NULL,
  UNIQUE KEY one_rental (rental_date, inventory_id, customer_id),
  KEY idx_inventory (inventory_id),
  KEY idx_customer (customer_id),
  KEY idx_staff (staff_id),
  CONSTRAINT rental_staff FOREIGN KEY (staff_id) REFERENCES staff (staff_id),
  CONSTRAINT rental_inventory FOREIGN KEY (inventory_id) REFERENCES inventory (inventory_id),
  CONSTRAINT rental_customer FOREIGN KEY (customer_id) REFERENCES customer (customer_id)
);
CREATE TABLE payment (
  payment_id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  customer_id SMALLINT UNSIGNED NOT NULL,
  staff_id TINYINT UNSIGNED NOT NULL,
  rental_id INT NULL,
  amount DECIMAL(5,2) NOT NULL,
  paid_at DATETIME(6) NOT NULL,
  KEY idx_staff (staff_id),
  KEY idx_customer (customer_id),
  KEY idx_rental (rental_id),
  CONSTRAINT payment_rental FOREIGN KEY (rental_id) REFERENCES rental (rental_id) ON DELETE SET NULL,
  CONSTRAINT payment_customer FOREIGN KEY (customer_id) REFERENCES customer (customer_id),
  CONSTRAINT payment_staff FOREIGN KEY (staff_id) REFERENCES staff (staff_id)
);
