package hosts

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Opener is a connector that also says what is known of a session.
type Opener interface {
	driver.Connector
	Open(ctx context.Context) (driver.Conn, Stay, error)
}

// Packets says what a session takes.
type Packets int8

// What it takes.
const (
	OnePacketEach Packets = iota
	Together              // several statements, which only the guard sends
	AsTheNameSays         // several statements, for the data source name asks for that
)

// New returns the opener of a configuration. Nothing is connected to.
func New(cfg *mysql.Config, how SetUp) (Opener, error) {
	if list := Addresses(cfg); len(list) > 1 {
		return newSeveral(cfg, list, how)
	}
	connector, err := connectorOf(cfg)
	if err != nil {
		return nil, err
	}
	return one{connector, how.of()}, nil
}

func connectorOf(cfg *mysql.Config) (driver.Connector, error) {
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("onerow: the settings of the data source name contradict each other: %w", err)
	}
	return connector, nil
}
