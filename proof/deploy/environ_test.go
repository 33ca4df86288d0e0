package deploy

import (
	"go/ast"
	"go/constant"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// readNames finds which environment variables a program of this project reads: the constants that its
// packages give to a function called Getenv or LookupEnv.
func readNames(t *testing.T, module, pkg string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	loaded, err := packages.Load(&packages.Config{
		Context: t.Context(), Dir: module,
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedFiles | packages.NeedModule,
	}, pkg)
	if err != nil || len(loaded) != 1 || len(loaded[0].Errors) > 0 {
		t.Fatalf("%s: %v, %v", pkg, loaded, err)
	}
	var ours []string
	packages.Visit(loaded, nil, func(p *packages.Package) {
		if p.Module != nil && strings.HasPrefix(p.Module.Path, "github.com/onerow/onerow") {
			ours = append(ours, p.PkgPath)
		}
	})
	typed, err := packages.Load(&packages.Config{
		Context: t.Context(), Dir: module,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, ours...)
	if err != nil || packages.PrintErrors(typed) > 0 {
		t.Fatal(err)
	}
	for _, p := range typed {
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) != 1 || !isGetenv(call.Fun) {
					return true
				}
				if v := p.TypesInfo.Types[call.Args[0]].Value; v != nil && v.Kind() == constant.String {
					names[constant.StringVal(v)] = true
				}
				return true
			})
		}
	}
	if !names["ONEROW_DSN"] {
		t.Fatalf("%s reads only %v", pkg, names)
	}
	return names
}

func isGetenv(fun ast.Expr) bool {
	name := ""
	switch f := fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	return name == "Getenv" || name == "LookupEnv"
}
