package main

import (
	"context"

	"github.com/onerow/onerow/pool"
)

var settingChecks = []check{
	{
		name: "settings", promise: promiseSettings, with: plain,
		what: "pool.Check asks the settings of plain sessions",
		run: func(ctx context.Context, s *site) (string, error) {
			return "pool.Check refuses nothing", refusal(pool.Check(ctx, s.plain))
		},
	},
	{
		name: "settings-opened", promise: promiseDefaults, with: opened,
		what: "pool.Check asks those of sessions that pool.Open has set up",
		run: func(ctx context.Context, s *site) (string, error) {
			return "pool.Check refuses nothing", refusal(pool.Check(ctx, s.opened))
		},
	},
}
