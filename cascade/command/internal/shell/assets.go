package shell

import (
	"cmp"
	"context"

	"github.com/onerow/onerow/cascade/inspect"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema"
)

// AssetsFlag is part of the commands that delete.
type AssetsFlag struct {
	Assets string `placeholder:"URL" help:"Where the assets are that the plan's asset columns name: file:///folder ($$ONEROW_ASSETS)."`
}

// Assets opens the place of the plan's assets, until the command has ended. Without asset columns it is nil.
func (a *App) Assets(ctx context.Context, flag AssetsFlag, plan schema.Plan) (inspect.AssetStore, error) {
	for _, n := range plan.Nodes() { // existing tables may name assets, too
		switch {
		case n.Asset == "":
			continue
		case !a.KnowsAssets(flag):
			return nil, usage.Errorf("%q of the plan names its assets in the column %q: say where they are with --assets file:///folder or %s",
				n.Name, n.Asset, EnvAssets)
		}
		return a.OpenStore(ctx, flag)
	}
	return nil, nil
}

// KnowsAssets says whether a place was named, or is the program's own.
func (a *App) KnowsAssets(flag AssetsFlag) bool {
	return a.OwnAssets != nil || flag.Assets != "" || a.Getenv(EnvAssets) != ""
}

// OpenStore opens the place that was named, or the program's own, until the command has ended.
func (a *App) OpenStore(ctx context.Context, flag AssetsFlag) (inspect.AssetStore, error) {
	switch {
	case a.OwnAssets != nil:
		return a.OwnAssets, nil
	case a.OpenAssets == nil:
		return nil, usage.Errorf("this program is built without places for assets: --assets and %s name none", EnvAssets)
	}
	store, closeStore, err := a.OpenAssets(ctx, cmp.Or(flag.Assets, a.Getenv(EnvAssets)))
	if err != nil {
		return nil, usage.Mark(err)
	}
	a.close = append(a.close, closeStore)
	return store, nil
}
