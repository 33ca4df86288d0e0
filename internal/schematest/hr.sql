-- A company's people: text keys, a key with a date in it, a tree of managers, and a cycle
-- between departments and those who lead them.
CREATE TABLE regions (
  region_id INT UNSIGNED NOT NULL PRIMARY KEY,
  region_name VARCHAR(25) NULL
);
CREATE TABLE countries (
  country_id CHAR(2) NOT NULL PRIMARY KEY,
  country_name VARCHAR(40) NULL,
  region_id INT UNSIGNED NOT NULL,
  KEY idx_region (region_id),
  CONSTRAINT countries_region FOREIGN KEY (region_id) REFERENCES regions (region_id)
);
CREATE TABLE locations (
  location_id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  street VARCHAR(40) NULL,
  city VARCHAR(30) NOT NULL,
  country_id CHAR(2) NOT NULL,
  KEY idx_country (country_id),
  CONSTRAINT locations_country FOREIGN KEY (country_id) REFERENCES countries (country_id)
);
CREATE TABLE departments (
  department_id INT UNSIGNED NOT NULL PRIMARY KEY,
  department_name VARCHAR(30) NOT NULL,
  manager_id INT UNSIGNED NULL,
  location_id INT UNSIGNED NULL,
  KEY idx_manager (manager_id),
  KEY idx_location (location_id),
  CONSTRAINT departments_location FOREIGN KEY (location_id) REFERENCES locations (location_id)
);
CREATE TABLE jobs (
  job_id VARCHAR(10) NOT NULL PRIMARY KEY,
  job_title VARCHAR(35) NOT NULL,
  min_salary DECIMAL(8,0) UNSIGNED NULL
);
CREATE TABLE employees (
  employee_id INT UNSIGNED NOT NULL PRIMARY KEY,
  name VARCHAR(45) NOT NULL,
  email VARCHAR(25) NOT NULL,
  hire_date DATE NOT NULL,
  job_id VARCHAR(10) NOT NULL,
  salary DECIMAL(8,2) NOT NULL,
  manager_id INT UNSIGNED NULL,
  department_id INT UNSIGNED NOT NULL,
  UNIQUE KEY one_email (email),
  KEY idx_job (job_id),
  KEY idx_manager (manager_id),
  KEY idx_department (department_id),
  CONSTRAINT employees_job FOREIGN KEY (job_id) REFERENCES jobs (job_id),
  CONSTRAINT employees_department FOREIGN KEY (department_id) REFERENCES departments (department_id),
  CONSTRAINT employees_manager FOREIGN KEY (manager_id) REFERENCES employees (employee_id)
);
ALTER TABLE departments ADD CONSTRAINT departments_manager FOREIGN KEY (manager_id) REFERENCES employees (employee_id);
CREATE TABLE job_history (
  employee_id INT UNSIGNED NOT NULL,
  start_date DATE NOT NULL,
  end_date DATE NOT NULL,
  job_id VARCHAR(10) NOT NULL,
  department_id INT UNSIGNED NULL,
  PRIMARY KEY (employee_id, start_date),
  KEY idx_job (job_id),
  KEY idx_department (department_id),
  CONSTRAINT history_employee FOREIGN KEY (employee_id) REFERENCES employees (employee_id),
  CONSTRAINT history_job FOREIGN KEY (job_id) REFERENCES jobs (job_id),
  CONSTRAINT history_department FOREIGN KEY (department_id) REFERENCES departments (department_id) ON DELETE SET NULL
);
CREATE TABLE history_notes (
  employee_id INT UNSIGNED NOT NULL,
  start_date DATE NOT NULL,
  line SMALLINT NOT NULL,
  note TEXT NOT NULL,
  PRIMARY KEY (employee_id, start_date, line),
  CONSTRAINT notes_history FOREIGN KEY (employee_id, start_date) REFERENCES job_history (employee_id, start_date)
);
CREATE TABLE badges (
  badge_id BINARY(16) NOT NULL PRIMARY KEY,
  employee_id INT UNSIGNED NOT NULL,
  replaces BINARY(16) NULL,
  KEY idx_employee (employee_id),
  KEY idx_replaces (replaces),
  CONSTRAINT badges_employee FOREIGN KEY (employee_id) REFERENCES employees (employee_id),
  CONSTRAINT badges_replaces FOREIGN KEY (replaces) REFERENCES badges (badge_id)
);
