-- +goose NO TRANSACTION
-- +goose Up
-- Generated from the plan in plan.go: go test -C examples ./projects/internal/store -run TestGenerated -update
CREATE TABLE IF NOT EXISTS `project` (
  `id` BIGINT NOT NULL AUTO_INCREMENT,
  `user_id` BIGINT NOT NULL,
  `name` VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL,
  `name_key` VARBINARY(1020) NOT NULL,
  `stem_key` VARBINARY(1020) NOT NULL,
  `copy_no` INT NOT NULL DEFAULT 0,
  `is_over_quota` TINYINT NOT NULL DEFAULT 0,
  `version` BIGINT NOT NULL DEFAULT 1,
  `created_at` DATETIME(6) NOT NULL,
  `updated_at` DATETIME(6) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `one_name` (`user_id`, `name_key`),
  KEY `next_copy` (`user_id`, `stem_key`, `copy_no`),
  KEY `owner_id` (`user_id`, `id`),
  KEY `quota_flag` (`user_id`, `is_over_quota`, `id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS `project_archive` (
  `id` BIGINT NOT NULL,
  `user_id` BIGINT NOT NULL,
  `name` VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL,
  `name_key` VARBINARY(1020) NOT NULL,
  `stem_key` VARBINARY(1020) NOT NULL,
  `copy_no` INT NOT NULL DEFAULT 0,
  `is_over_quota` TINYINT NOT NULL DEFAULT 0,
  `version` BIGINT NOT NULL DEFAULT 1,
  `created_at` DATETIME(6) NOT NULL,
  `updated_at` DATETIME(6) NOT NULL,
  `archived_at` DATETIME(6) NOT NULL,
  `deletion_id` BIGINT NULL,
  `deleted_from` VARBINARY(8) NULL,
  PRIMARY KEY (`id`),
  KEY `shown` (`user_id`, `deletion_id`, `id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS `screen` (
  `id` BIGINT NOT NULL AUTO_INCREMENT,
  `project_id` BIGINT NOT NULL,
  `client_filename` VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL,
  `client_filename_base` VARBINARY(1020) NOT NULL,
  `stem_key` VARBINARY(1020) NOT NULL,
  `copy_no` INT NOT NULL DEFAULT 0,
  `version` BIGINT NOT NULL DEFAULT 1,
  `created_at` DATETIME(6) NOT NULL,
  `updated_at` DATETIME(6) NOT NULL,
  `blob_key` VARBINARY(80) NOT NULL,
  `content_type` VARCHAR(100) NOT NULL,
  `size` BIGINT NOT NULL,
  `revision` INT NOT NULL DEFAULT 1,
  PRIMARY KEY (`id`),
  UNIQUE KEY `one_name` (`project_id`, `client_filename_base`),
  KEY `next_copy` (`project_id`, `stem_key`, `copy_no`),
  KEY `owner_id` (`project_id`, `id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS `screen_archive` (
  `id` BIGINT NOT NULL,
  `project_id` BIGINT NOT NULL,
  `client_filename` VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL,
  `client_filename_base` VARBINARY(1020) NOT NULL,
  `stem_key` VARBINARY(1020) NOT NULL,
  `copy_no` INT NOT NULL DEFAULT 0,
  `version` BIGINT NOT NULL DEFAULT 1,
  `created_at` DATETIME(6) NOT NULL,
  `updated_at` DATETIME(6) NOT NULL,
  `blob_key` VARBINARY(80) NOT NULL,
  `content_type` VARCHAR(100) NOT NULL,
  `size` BIGINT NOT NULL,
  `revision` INT NOT NULL DEFAULT 1,
  `archived_at` DATETIME(6) NOT NULL,
  `deletion_id` BIGINT NULL,
  `deleted_from` VARBINARY(8) NULL,
  PRIMARY KEY (`id`),
  KEY `shown` (`project_id`, `deletion_id`, `id`),
  KEY `parent_id` (`project_id`, `id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS `comment` (
  `id` BIGINT NOT NULL AUTO_INCREMENT,
  `screen_id` BIGINT NOT NULL,
  `version` BIGINT NOT NULL DEFAULT 1,
  `created_at` DATETIME(6) NOT NULL,
  `updated_at` DATETIME(6) NOT NULL,
  `body` TEXT NOT NULL,
  PRIMARY KEY (`id`),
  KEY `owner_id` (`screen_id`, `id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS ``;
DROP TABLE IF EXISTS `project_archive`;
DROP TABLE IF EXISTS ``;
DROP TABLE IF EXISTS `screen_archive`;
DROP TABLE IF EXISTS ``;
