package shell

import (
	"cmp"
	"context"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/inspect"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema"
)

// AssetsFlag is part of the commands that delete.
type AssetsFlag struct {
	Assets string `placeholder:"URL" help:"Where the assets are that the plan's asset columns name: file:///folder ($$ONEROW_ASSETS)."`
}

// Assets opens the place of the plan's assets. Without asset columns it is nil, and
// closing does nothing.
func (a *App) Assets(ctx context.Context, flag AssetsFlag, plan schema.Plan) (cascade.Assets, func() error, error) {
	for _, n := range plan.Nodes() { // existing tables may name assets, too
		if n.Asset == "" {
			continue
		}
		if !a.KnowsAssets(flag) {
			return nil, nil, usage.Errorf("%q of the plan names its assets in the column %q: say where they are with --assets file:///folder or %s",
				n.Name, n.Asset, EnvAssets)
		}
		return a.OpenStore(ctx, flag)
	}
	return nil, func() error { return nil }, nil
}

// KnowsAssets says whether a place was named, or is the program's own.
func (a *App) KnowsAssets(flag AssetsFlag) bool {
	return a.OwnAssets != nil || flag.Assets != "" || a.Getenv(EnvAssets) != ""
}

// OpenStore opens the place that was named, or the program's own.
func (a *App) OpenStore(ctx context.Context, flag AssetsFlag) (inspect.AssetStore, func() error, error) {
	where := cmp.Or(flag.Assets, a.Getenv(EnvAssets))
	switch {
	case a.OwnAssets != nil:
		return a.OwnAssets, func() error { return nil }, nil
	case a.OpenAssets == nil:
		return nil, nil, usage.Errorf("this program is built without places for assets: --assets and %s name none", EnvAssets)
	}
	store, closeStore, err := a.OpenAssets(ctx, where)
	if err != nil {
		return nil, nil, usage.Mark(err)
	}
	return store, closeStore, nil
}
