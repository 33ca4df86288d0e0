package shell

import (
	"cmp"
	"context"
	"slices"

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
	nodes := plan.Nodes() // existing tables may name assets, too
	i := slices.IndexFunc(nodes, func(n schema.Node) bool { return n.Asset != "" })
	if i < 0 {
		return nil, nil
	}
	address := cmp.Or(flag.Assets, a.Getenv(EnvAssets))
	switch {
	case address == "":
		return nil, usage.Errorf("%q of the plan names its assets in the column %q: say where the assets are with --assets file:///folder or %s", nodes[i].Name, nodes[i].Asset, EnvAssets)
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
