package schema_test

import (
	"fmt"

	"github.com/onerow/onerow/schema"
)

// The tables of a plan, for a migration of the application's own.
func ExamplePlan_DDL() {
	comment := schema.Resource{Name: "comment", Owner: "user_id", Columns: []schema.Column{{Name: "body", Type: "TEXT NOT NULL"}}}
	for _, table := range (schema.Plan{Resources: []schema.Resource{comment}}).DDL() {
		fmt.Println(table + ";")
	}
	// Output:
	// CREATE TABLE `comment` (
	//   `id` BIGINT NOT NULL AUTO_INCREMENT,
	//   `user_id` BIGINT NOT NULL,
	//   `version` BIGINT NOT NULL DEFAULT 1,
	//   `created_at` DATETIME(6) NOT NULL,
	//   `updated_at` DATETIME(6) NOT NULL,
	//   `body` TEXT NOT NULL,
	//   PRIMARY KEY (`id`),
	//   KEY `owner_id` (`user_id`, `id`)
	// ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
}
