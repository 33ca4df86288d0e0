package hosts

import (
	"net"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Addresses are those, each with its port, of a configuration whose address may be a list, as pool.Open
// takes it.
func Addresses(cfg *mysql.Config) []string {
	list := cfg.Addr
	if !strings.HasPrefix(cfg.Net, "tcp") && cfg.Net != "" || !strings.Contains(list, ",") {
		return []string{list}
	}
	// The driver takes a list with colons for an IPv6 address without a port, and adds brackets and one.
	if strings.HasPrefix(list, "[[") || strings.HasPrefix(list, "[") && strings.IndexByte(list, ',') < strings.IndexByte(list, ']') {
		list = strings.TrimSuffix(strings.TrimPrefix(list, "["), "]:3306")
	}
	var hosts []string
	for host := range strings.SplitSeq(list, ",") {
		host = strings.TrimSpace(host)
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), "3306")
		}
		hosts = append(hosts, host)
	}
	return hosts
}
