-- The helpdesk as somebody else has designed it, years ago. The program begins here, see adopt.go.
CREATE TABLE tenants (
  id        INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name      VARCHAR(80) NOT NULL,
  max_bytes BIGINT NOT NULL DEFAULT 1000000000 COMMENT 'of attachments'
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE workspaces (
  id         BINARY(16) NOT NULL PRIMARY KEY,
  tenant_id  INT NOT NULL,
  name       VARCHAR(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_swedish_ci NOT NULL COMMENT 'what people see',
  color      ENUM('red','green','blue') NOT NULL DEFAULT 'green',
  created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  CONSTRAINT workspace_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE tickets (
  id           BINARY(16) NOT NULL PRIMARY KEY,
  tenant_id    INT NOT NULL,
  workspace_id BINARY(16) NOT NULL,
  number       INT NOT NULL,
  subject      VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_swedish_ci NOT NULL,
  requester    VARCHAR(120) CHARACTER SET latin1 COLLATE latin1_german2_ci NOT NULL DEFAULT 'anonymous',
  status       ENUM('open','waiting','closed') NOT NULL DEFAULT 'open',
  priority     TINYINT NOT NULL DEFAULT 3,
  created_at   TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at   TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  UNIQUE KEY number (tenant_id, number),
  CONSTRAINT ticket_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (id),
  CONSTRAINT ticket_workspace FOREIGN KEY (workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE messages (
  id         BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  ticket_id  BINARY(16) NOT NULL,
  author     VARCHAR(120) NOT NULL DEFAULT 'agent',
  body       TEXT NOT NULL,
  created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT message_ticket FOREIGN KEY (ticket_id) REFERENCES tickets (id) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE attachments (
  id         BINARY(16) NOT NULL PRIMARY KEY,
  tenant_id  INT NOT NULL,
  ticket_id  BINARY(16) NOT NULL,
  name       VARCHAR(120) NOT NULL,
  bytes      BIGINT NOT NULL DEFAULT 0,
  file       VARCHAR(80) NULL,
  created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT attachment_ticket FOREIGN KEY (ticket_id) REFERENCES tickets (id) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE tags (
  id        INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  tenant_id INT NOT NULL,
  label     VARCHAR(40) NOT NULL,
  UNIQUE KEY label (tenant_id, label),
  CONSTRAINT tag_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE ticket_tag (
  ticket_id BINARY(16) NOT NULL,
  tag_id    INT NOT NULL,
  PRIMARY KEY (ticket_id, tag_id),
  CONSTRAINT tagged_ticket FOREIGN KEY (ticket_id) REFERENCES tickets (id) ON DELETE CASCADE,
  CONSTRAINT tagged_tag FOREIGN KEY (tag_id) REFERENCES tags (id) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
