package acknowledged_test

import (
	"encoding/json"
	"errors"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/onerow/onerow"

// TestEveryText: each parameter and field of the exported API in which a text can be has a case in this
// package, or stands in notSQL. Neither list has what no longer exists.
func TestEveryText(t *testing.T) {
	covered := map[string]string{} // place → case
	for _, c := range allCases() {
		for _, p := range c.takes {
			covered[p] = c.name
		}
	}
	found := map[string]bool{}
	words := map[string]string{} // package and name → why it is no SQL
	for pkg, reasons := range notSQL {
		for why, names := range reasons {
			for _, name := range strings.Fields(names) {
				if word := pkg + " " + name; words[word] != "" {
					t.Errorf("notSQL has %q as %s and as %s", word, words[word], why)
				}
				words[pkg+" "+name] = why
			}
		}
	}
	for _, p := range walk(t) {
		word := p.pkg + " " + p.name
		if _, own := words[p.pkg+" "+p.of+"."+p.name]; own {
			word = p.pkg + " " + p.of + "." + p.name
		}
		found[p.String()], found[word] = true, true
		if covered[p.String()] == "" && words[word] == "" {
			t.Errorf("%s (%s) may be SQL text: give it a case, or say in notSQL what it is", p, p.typ)
		}
	}
	for p, name := range covered {
		if !found[p] {
			t.Errorf("the case %s is for %q, which the API does not have", name, p)
		}
	}
	for word, why := range words {
		if !found[word] {
			t.Errorf("notSQL has %q (%s), which the API does not have", word, why)
		}
	}
}

// place is a parameter or a field of the exported API in which a text can be.
type place struct{ pkg, of, name, typ string }

func (p place) String() string { return p.pkg + "." + p.of + " " + p.name }

// walk lists them.
func walk(t *testing.T) []place {
	t.Helper()
	var w walker
	for _, pkg := range libraries(t) {
		w.pkg = pkg
		for _, name := range pkg.Scope().Names() {
			if obj := pkg.Scope().Lookup(name); obj.Exported() {
				w.object(obj)
			}
		}
	}
	return w.places
}

// packets is the one room inside whose functions take the texts that the libraries send.
const packets = module + "/internal/packet"

// libraries are the packages of the module that others may import, and packets. What is in the parts of an
// examples' or of a command's is theirs.
func libraries(t *testing.T) (list []*types.Package) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Export,Name,Module", "./...")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	var paths []string
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Export, Name string
			Module                   *struct{ Main bool }
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		inside := strings.Contains(p.ImportPath+"/", "/internal/") && p.ImportPath != packets || strings.HasPrefix(p.ImportPath, module+"/examples/")
		empty := p.Export == "" // it has only tests
		if p.Module != nil && p.Module.Main && p.Name != "main" && !inside && !empty {
			paths = append(paths, p.ImportPath)
		}
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, path := range paths {
		pkg, err := imports.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pkg)
	}
	return list
}

type walker struct {
	pkg    *types.Package
	places []place
}

// add is for a parameter or field.
func (w *walker) add(of, name string, typ types.Type) {
	if hasText(typ, nil) {
		pkg := strings.TrimPrefix(strings.TrimPrefix(w.pkg.Path(), module), "/")
		if pkg == "" {
			pkg = "onerow"
		}
		w.places = append(w.places, place{pkg, of, name, types.TypeString(typ, (*types.Package).Name)})
	}
}

func (w *walker) object(obj types.Object) {
	switch obj := obj.(type) {
	case *types.Func:
		w.signature(obj.Name(), obj.Signature())
	case *types.Var:
		w.add(obj.Name(), "=", obj.Type())
	case *types.TypeName:
		named, ok := types.Unalias(obj.Type()).(*types.Named)
		if ok {
			w.named(obj.Name(), named)
		}
	}
}

// named is for a type, or for another name of one.
func (w *walker) named(name string, named *types.Named) {
	w.under(name, named.Underlying())
	if types.IsInterface(named) {
		return
	}
	set := types.NewMethodSet(types.NewPointer(named)) // with those of what it embeds
	for m := range set.Methods() {
		if f, ok := m.Obj().(*types.Func); ok && f.Exported() {
			w.signature(name+"."+f.Name(), f.Signature())
		}
	}
}

func (w *walker) under(of string, t types.Type) {
	switch u := t.(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if !f.Exported() {
				continue
			}
			w.add(of, f.Name(), f.Type())
			if _, named := types.Unalias(f.Type()).(*types.Named); !named {
				w.under(of+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range u.Methods() {
			w.signature(of+"."+m.Name(), m.Signature())
		}
	}
}

func (w *walker) signature(of string, s *types.Signature) {
	for p := range s.Params().Variables() {
		w.add(of, p.Name(), p.Type())
	}
}

// carriers are types that hold SQL text, or may, of which the text is no field here.
var carriers = []string{module + "/internal/wire.Stmt", "io/fs.FS", "embed.FS", "io.Reader", "strings.Builder", "bytes.Buffer", "text/template.Template"}

// hasText says whether a value of the type is, has or returns a text, but for the fields of a struct with a
// name, which are places of their own. Values of type any are none: they go where placeholders are.
func hasText(t types.Type, above []types.Type) bool {
	if slices.Contains(above, t) {
		return false
	}
	above = append(above, t)
	if named, ok := types.Unalias(t).(*types.Named); ok && named.Obj().Pkg() != nil {
		if slices.Contains(carriers, named.Obj().Pkg().Path()+"."+named.Obj().Name()) {
			return true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Slice:
		basic, ok := u.Elem().Underlying().(*types.Basic)
		return ok && basic.Kind() == types.Byte || hasText(u.Elem(), above)
	case *types.Array:
		return hasText(u.Elem(), above)
	case *types.Pointer:
		return hasText(u.Elem(), above)
	case *types.Chan:
		return hasText(u.Elem(), above)
	case *types.Map:
		return hasText(u.Key(), above) || hasText(u.Elem(), above)
	case *types.Signature:
		for v := range u.Results().Variables() {
			if hasText(v.Type(), above) {
				return true
			}
		}
	}
	return false
}
