package r10

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// Solution reads the tree from the top down, and deletes it from the bottom up. Called again, it finds what
// is left.
func Solution(ctx context.Context, db *sql.DB) error {
	levels := [][]any{{1}}
	for {
		below, err := children(ctx, db, levels[len(levels)-1])
		if err != nil {
			return fmt.Errorf("reading level %d: %w", len(levels), err)
		}
		if len(below) == 0 {
			break
		}
		levels = append(levels, below)
	}
	for _, level := range slices.Backward(levels) {
		if err := remove(ctx, db, level); err != nil {
			return fmt.Errorf("deleting: %w", err)
		}
	}
	return nil
}
