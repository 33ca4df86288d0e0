package command

import (
	"cmp"
	"context"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema"
)

// assetsFlag is part of the commands that delete.
type assetsFlag struct {
	Assets string `placeholder:"URL" help:"Where the assets are that the plan's asset columns name: file:///folder ($$ONEROW_ASSETS)."`
}

// assets opens the place of the plan's assets. Without asset columns it is nil, and
// closing does nothing.
func (a *app) assets(ctx context.Context, flag assetsFlag, plan schema.Plan) (cascade.Assets, func() error, error) {
	for _, n := range plan.Nodes() { // existing tables may name assets, too
		if n.Asset == "" {
			continue
		}
		if !a.knowsAssets(flag) {
			return nil, nil, usage.Errorf("%q of the plan names its assets in the column %q: say where they are with --assets file:///folder or %s",
				n.Name, n.Asset, envAssets)
		}
		return a.openStore(ctx, flag)
	}
	return nil, func() error { return nil }, nil
}

// knowsAssets says whether a place was named, or is the program's own.
func (a *app) knowsAssets(flag assetsFlag) bool {
	return a.ownAssets != nil || flag.Assets != "" || a.getenv(envAssets) != ""
}

// openStore opens the place that was named, or the program's own.
func (a *app) openStore(ctx context.Context, flag assetsFlag) (cascade.AssetStore, func() error, error) {
	where := cmp.Or(flag.Assets, a.getenv(envAssets))
	switch {
	case a.ownAssets != nil:
		return a.ownAssets, func() error { return nil }, nil
	case a.openAssets == nil:
		return nil, nil, usage.Errorf("this program is built without places for assets: --assets and %s name none", envAssets)
	}
	store, closeStore, err := a.openAssets(ctx, where)
	if err != nil {
		return nil, nil, usage.Mark(err)
	}
	return store, closeStore, nil
}
