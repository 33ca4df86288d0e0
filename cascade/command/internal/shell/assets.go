package shell

import (
	"cmp"
	"context"
	"fmt"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema"
)

// AssetsFlag is part of the commands that delete.
type AssetsFlag struct {
	Assets string `placeholder:"URL" help:"Where the assets are that the plan's asset columns name: file:///folder ($$ONEROW_ASSETS)."`
}

// Assets opens the place of the plan's assets, until the command has ended. Without asset columns it is nil.
func (a *App) Assets(ctx context.Context, flag AssetsFlag, plan schema.Plan) (cascade.Assets, error) {
	for _, n := range plan.Nodes() { // existing tables may name assets, too
		if n.Asset != "" {
			return a.OpenStore(ctx, flag, fmt.Sprintf("%q of the plan names its assets in the column %q: ", n.Name, n.Asset))
		}
	}
	return nil, nil
}

// OpenStore opens the place that was named, until the command has ended; why is said where none was.
func (a *App) OpenStore(ctx context.Context, flag AssetsFlag, why string) (cascade.Assets, error) {
	address := cmp.Or(flag.Assets, a.Getenv(EnvAssets))
	switch {
	case address == "":
		return nil, usage.Errorf("%ssay where the assets are with --assets file:///folder or %s", why, EnvAssets)
	case a.OpenAssets == nil:
		return nil, usage.Errorf("this program is built without places for assets: --assets and %s name none", EnvAssets)
	}
	store, closeStore, err := a.OpenAssets(ctx, address)
	if err != nil {
		return nil, usage.Mark(err)
	}
	a.close = append(a.close, closeStore)
	return store, nil
}
