package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/onerow/onerow/schema"
)

// maxPlanSize is far above any plan that somebody writes.
const maxPlanSize = 1 << 20

// plan reads and checks the plan that the flag or the environment names.
func (a *app) plan(flag planFlag) (schema.Plan, error) {
	name := flag.Plan
	if name == "" {
		name = a.getenv(envPlan)
	}
	if name == "" {
		return schema.Plan{}, usagef("no plan was given: set --plan or %s to a YAML file", envPlan)
	}
	text, err := a.readPlan(name)
	if err != nil {
		return schema.Plan{}, usagef("the plan cannot be read: %w", err)
	}
	if name == "-" {
		name = "standard input"
	}
	plan, err := parsePlan(name, text)
	if err != nil {
		return schema.Plan{}, usage(err)
	}
	return plan, nil
}

func (a *app) readPlan(name string) (text []byte, err error) {
	in := a.stdin
	if name != "-" {
		file, err := os.Open(name) //nolint:gosec // the operator names the file
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		in = file
	}
	text, err = io.ReadAll(io.LimitReader(in, maxPlanSize+1))
	if err == nil && len(text) > maxPlanSize {
		err = fmt.Errorf("%s has more than %d bytes", name, maxPlanSize)
	}
	return text, err
}

// parsePlan is strict: a field that no plan has is an error, with its line. The name is
// that of the file, for messages.
func parsePlan(name string, text []byte) (plan schema.Plan, err error) {
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
	var kind *yaml.TypeError
	if errors.As(err, &kind) {
		message = fmt.Sprintf("a %s does not fit here, it should be a %s", kind.SrcType, yamlKind(kind.DstType.String()))
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

// yamlKind says in YAML's words what Go type was wanted.
func yamlKind(goType string) string {
	switch {
	case strings.HasPrefix(goType, "[]"):
		return "list"
	case goType == "bool":
		return "true or false"
	case goType == "string", goType == "names.Kind", goType == "schema.Action":
		return "text"
	}
	return "mapping"
}

// planError names every contradiction that the plan's check found, on one line.
func planError(name string, err error) error {
	mistakes := leaves(err)
	if len(mistakes) == 1 {
		return fmt.Errorf("%s: %w", name, mistakes[0])
	}
	texts := make([]string, len(mistakes))
	for i, mistake := range mistakes {
		texts[i] = fmt.Sprintf("(%d) %s", i+1, mistake)
	}
	return fmt.Errorf("%s has %d mistakes: %s", name, len(mistakes), strings.Join(texts, " "))
}

// leaves are the errors that schema's check has joined.
func leaves(err error) []error {
	many, ok := err.(interface{ Unwrap() []error }) //nolint:errorlint // one level at a time, by its own shape
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range many.Unwrap() {
		if !errors.Is(one, schema.ErrInvalidPlan) {
			all = append(all, leaves(one)...)
		}
	}
	if len(all) == 0 {
		return []error{err}
	}
	return all
}
