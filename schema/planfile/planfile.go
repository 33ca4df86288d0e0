// Package planfile reads a [schema.Plan] from YAML, the file that cascade-worker takes as --plan, and writes
// one: one declaration for the application and for its worker. It is a package of its own so that nobody else
// compiles a YAML library.
//
//	//go:embed plan.yaml
//	var text []byte
//
//	plan, err := planfile.Parse("plan.yaml", text) // where the file is the declaration
//	text, err := planfile.Format(plan)             // where the Go value is; so does the command's plan --yaml
//
// The fields are those of the structs of package schema, in lower case with underscores; the Go value and
// the file say the same. It sends nothing to a database: [live.Verify] compares a plan with one.
//
// Open this package when the YAML of a plan gets a new word.
package planfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/onerow/onerow/schema"
)

// maxSize of a file, in bytes, is far above any plan that somebody writes.
const maxSize = 1 << 20

// Parse reads and checks a plan. It is strict: a field that no plan has is an error, with its line. The name
// is that of the file, for messages. Errors: [schema.ErrInvalidPlan], which names all contradictions of a
// plan at once.
func Parse(name string, text []byte) (schema.Plan, error) {
	plan, err := parse(name, text)
	if err != nil {
		return schema.Plan{}, &invalid{err}
	}
	return plan, nil
}

// Format returns a plan as the YAML that [Parse] reads as the same plan. Errors: [schema.ErrInvalidPlan].
func Format(plan schema.Plan) ([]byte, error) {
	if err := plan.Check(); err != nil {
		return nil, fmt.Errorf("planfile: %w", err)
	}
	text, err := yaml.MarshalWithOptions(plan, yaml.IndentSequence(true))
	if err != nil {
		return nil, fmt.Errorf("planfile: %w", err)
	}
	return text, nil
}

// invalid is a plan's error, which need not say that the plan is invalid.
type invalid struct{ error }

func (e *invalid) Unwrap() []error { return []error{schema.ErrInvalidPlan, e.error} }

func parse(name string, text []byte) (plan schema.Plan, err error) {
	if len(text) > maxSize {
		return schema.Plan{}, fmt.Errorf("%s has more than %d bytes", name, maxSize)
	}
	// The library is known to have panicked on malformed input, and a plan is input.
	defer func() {
		if p := recover(); p != nil {
			plan, err = schema.Plan{}, fmt.Errorf("%s is not valid YAML", name)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(text), yaml.DisallowUnknownField())
	switch err := decoder.Decode(&plan); {
	case errors.Is(err, io.EOF):
		return schema.Plan{}, fmt.Errorf("%s is empty: a plan begins with \"resources:\" or \"tables:\"", name)
	case err != nil:
		return schema.Plan{}, yamlError(name, err)
	}
	var more any
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return schema.Plan{}, fmt.Errorf("%s has more than one YAML document", name)
	}
	if err := plan.Check(); err != nil {
		return schema.Plan{}, planError(name, err)
	}
	return plan, nil
}

// yamlError is "file:line:column: what is wrong".
func yamlError(name string, err error) error {
	var at yaml.Error
	if !errors.As(err, &at) {
		return fmt.Errorf("%s: %w", name, err)
	}
	message := at.GetMessage()
	if strings.Contains(message, "'\t'") || strings.Contains(message, "tab character") {
		message = "a TAB stands here; YAML is indented by spaces only"
	}
	var kind *yaml.TypeError
	if errors.As(err, &kind) {
		message = fmt.Sprintf("%s does not fit here, it should be %s", yamlKind(kind.SrcType.String()), yamlKind(kind.DstType.String()))
	}
	var unknown *yaml.UnknownFieldError
	if token := at.GetToken(); token != nil && token.Position != nil {
		name = fmt.Sprintf("%s:%d:%d", name, token.Position.Line, token.Position.Column)
		if errors.As(err, &unknown) {
			message = fmt.Sprintf("unknown field %q", token.Value)
		}
	}
	return fmt.Errorf("%s: %s", name, message)
}

// yamlKind says in YAML's words what a Go type holds.
func yamlKind(goType string) string {
	switch {
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	case strings.HasPrefix(goType, "int"), strings.HasPrefix(goType, "uint"), strings.HasPrefix(goType, "float"):
		return "a number"
	case goType == "bool":
		return "true or false"
	case goType == "string", goType == "names.Kind":
		return "text"
	}
	return "a mapping"
}

// planError names every contradiction that the plan's check found, each a line of its error, on one line.
func planError(name string, err error) error {
	mistakes := strings.Split(strings.TrimPrefix(err.Error(), schema.ErrInvalidPlan.Error()+": "), "\n")
	if len(mistakes) == 1 {
		return fmt.Errorf("%s: %s", name, mistakes[0])
	}
	for i, mistake := range mistakes {
		mistakes[i] = fmt.Sprintf("(%d) %s", i+1, mistake)
	}
	return fmt.Errorf("%s has %d mistakes: %s", name, len(mistakes), strings.Join(mistakes, " "))
}
