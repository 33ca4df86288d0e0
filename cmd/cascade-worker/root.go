package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cmd/cascade-worker/internal/output"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// rootRow is the row that somebody has named on the command line.
type rootRow struct {
	node  schema.Node
	typed string
	key   string // encoded, see onerow.EncodeKey
}

// String is "project 42".
func (r rootRow) String() string {
	return output.RowName(cascade.Job{Resource: r.node.Name, ResourceID: r.key})
}

// typedNode checks the name of a resource or table.
func typedNode(plan schema.Plan, name string) (schema.Node, error) {
	node, err := plan.Node(name)
	if err != nil {
		return node, usagef("the plan has no resource %q; it has %s", name, strings.Join(plan.Names(), ", "))
	}
	if node.Stays {
		return node, usagef("the plan says that rows of %q stay, so none of them can be deleted", name)
	}
	return node, nil
}

// typedRoot checks what can be checked without the database.
func typedRoot(plan schema.Plan, resource, typed string) (rootRow, error) {
	node, err := typedNode(plan, resource)
	r := rootRow{node: node, typed: typed}
	if err != nil || !node.Managed {
		return r, err
	}
	id, err := strconv.ParseInt(typed, 10, 64)
	if err != nil || id < 1 {
		return r, usagef("%q is no id of a %s: ids are whole numbers from 1 to %d", typed, node.Name, int64(1<<63-1))
	}
	r.key, err = onerow.EncodeKey(id)
	return r, err
}

// encode reads the key as the table's columns say. A key in its encoded form, as jobs
// show it in JSON, counts as that.
func (r *rootRow) encode(ctx context.Context, db onerow.DB) error {
	if r.key != "" {
		return nil
	}
	codec, err := keyCodec(ctx, db, r.node)
	if err != nil {
		return err
	}
	key, err := codec.Decode(r.typed)
	if err != nil {
		key, err = codec.Parse(r.typed)
	}
	if err == nil {
		r.key, err = codec.Encode(key)
	}
	if err != nil {
		typed := fmt.Sprintf("%q", r.typed)
		why := output.Detail(err, rowkey.ErrInvalidKey).Error()
		if once := strings.TrimPrefix(why, typed+": "); strings.HasPrefix(once, typed) {
			why = once
		}
		return usage(output.Said(fmt.Sprintf("no key of %s: %s", r.node.Name, why), err))
	}
	return nil
}

// keyCodec reads and writes the keys of a node.
func keyCodec(ctx context.Context, db onerow.DB, node schema.Node) (rowkey.Codec, error) {
	cat, err := schema.Inspect(ctx, db)
	if err != nil {
		return rowkey.Codec{}, err
	}
	codec, err := rowkey.New(cat, node.Tables[0], node.Key)
	if errors.Is(err, rowkey.ErrType) {
		err = fmt.Errorf("the database does not fit the plan: %w; see %s verify", err, programName)
	}
	return codec, err
}
