CREATE TABLE note (
	id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
	project_id BIGINT NOT NULL,
	text VARCHAR(255) NOT NULL,
	KEY project_id (project_id, id)
);
