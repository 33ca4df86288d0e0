// Package node says of a server what its variables show: whether it is a node of Galera, and whether it takes
// writes. It sends nothing: who opens sessions asks for them before, who checks a pool behind.
//
// Open this package when a node of a cluster answers something new.
package node

// IsGalera says whether the variables are those of a node of Galera: a MariaDB may have wsrep on and no
// cluster.
func IsGalera(is map[string]string) bool {
	return is["wsrep_on"] == "ON" && is["wsrep_provider"] != "none" && is["wsrep_provider"] != ""
}

// ReadOnly is the variable by which a server or a session takes no writes, and its value; empty: it does.
func ReadOnly(is map[string]string) (name, value string) {
	for _, name := range []string{"innodb_read_only", "super_read_only", "read_only", "transaction_read_only", "tx_read_only"} {
		if value := is[name]; value != "" && value != "OFF" {
			return name, value
		}
	}
	return "", ""
}
