package live

import (
	"testing"

	"github.com/onerow/onerow/migrations"
)

// TestGrantPatterns: what SHOW GRANTS says, with the patterns that grants on databases are.
func TestGrantPatterns(t *testing.T) {
	for _, c := range []struct {
		on, table string
		want      bool
	}{
		{"*.*", "t", true}, {"*.*", "", true}, {"`shop_1`.*", "t", true}, {`"shop_1".*`, "t", true}, {"`shop\\_1`.*", "t", true}, {"`shop\\_2`.*", "t", false},
		{"`shop%`.*", "", true}, {"`%`.*", "", true}, {"`s_op\\_1`.*", "", true}, {"`shop`.*", "t", false}, {"`shop_1`.`t`", "t", true},
		{"`shop_1`.`t`", "", false}, {"`shop_1`.`u`", "t", false}, {"`shop%`.`t`", "t", false}, {"`shop_1`.`a``b`", "a`b", true}, {"", "", false}, {"`", "", false},
	} {
		if got := covers(c.on, "shop_1", c.table); got != c.want {
			t.Errorf("%s, %q: %v", c.on, c.table, got)
		}
	}
	var g grants
	for _, line := range []string{"GRANT USAGE ON *.* TO `u`@`%`", "GRANT SELECT, TRIGGER ON `shop_1`.`t` TO `u`@`%`", "GRANT SELECT (`a`), TRIGGER ON `shop_1`.`v` TO `u`@`%`",
		"GRANT `r`@`%` TO `u`@`%`", "GRANT PROXY ON ``@`` TO `u`@`%`", "SET DEFAULT ROLE `r` FOR `u`@`%`"} {
		g.add(line)
	}
	if !g.may("shop_1", "t", "TRIGGER") || g.may("shop_1", "u", "TRIGGER") || g.may("shop_1", "v", "TRIGGER") || g.may("shop_1", "", "TRIGGER") || !g.may("shop_1", "t", "SELECT") {
		t.Errorf("%+v", g)
	}
	g.add("GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION")
	if !g.may("other", "", "TRIGGER") {
		t.Error("ALL PRIVILEGES does not count")
	}
	g.add("REVOKE TRIGGER ON `shop_1`.* FROM `u`@`%`")
	if g.may("shop_1", "t", "TRIGGER") {
		t.Error("a partial revoke does not count")
	}
	if g := grantee(`o'b\x@host@10.%`); g != `'o''b\\x@host'@'10.%'` {
		t.Error(g)
	}
	if g := grantee("app"); g != "'app'@'%'" {
		t.Error(g)
	}
}

// TestMigrationTable: the right to look at it is for the table that there is.
func TestMigrationTable(t *testing.T) {
	if migrationTable != migrations.TableName {
		t.Errorf("the migrations note what they did in %s", migrations.TableName)
	}
}
