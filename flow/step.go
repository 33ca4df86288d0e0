package flow

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/trace"
)

// Step is something that the flow waits for: an answer of another system.
type Step struct {
	// ID contains flow, stage, request id and name. It is what the other system is given and gives back.
	ID string
	// Run is whose step it is.
	Run Run
	// Name is the step's name in its run.
	Name string
	// Asked is what the run wanted to remember of its question.
	Asked []byte
	// Answered says that the answer is there, Answer what it is.
	Answered bool
	Answer   []byte
	// Replayed says that an earlier call did this: waited already, or brought the answer.
	Replayed bool
}

// StepID is the id of a step of a run: readable, and different for every run, so that a new run
// neither overwrites nor consumes an old run's steps. The error is [ErrInvalidArgument] when it
// has more than [onerow.MaxKeyLen] bytes.
func StepID(r Run, name string) (string, error) {
	if err := r.check(); err != nil {
		return "", err
	}
	id, err := onerow.EncodeKey(r.Flow, r.Stage, r.RequestID, name)
	if err != nil {
		return "", errtext.Errorf("%w: step %q of flow %q: %w", ErrInvalidArgument, name, r.Flow, err)
	}
	return id, nil
}

// ParseStepID is the inverse of [StepID].
func ParseStepID(id string) (Run, string, error) {
	parts, err := onerow.DecodeKey(id)
	if err != nil || len(parts) != 4 {
		return Run{}, "", fmt.Errorf("%w: %q is no step id", ErrInvalidArgument, id)
	}
	var text [4]string
	for i, part := range parts {
		s, ok := part.(string)
		if !ok {
			return Run{}, "", fmt.Errorf("%w: %q is no step id", ErrInvalidArgument, id)
		}
		text[i] = s
	}
	r := Run{Flow: text[0], Stage: text[1], RequestID: text[2]}
	return r, text[3], r.check()
}

// All by the primary key, under the lock of the proof.
const (
	sqlAwait    = `INSERT INTO onerow_flow_step (step_id, asked, created_at) VALUES (?, ?, UTC_TIMESTAMP(6))`
	sqlReadStep = `SELECT asked, answer, answered_at IS NOT NULL FROM onerow_flow_step WHERE step_id = ? LOCK IN SHARE MODE`
	sqlAnswer   = `UPDATE onerow_flow_step SET answer = ?, answered_at = UTC_TIMESTAMP(6) WHERE step_id = ? AND answered_at IS NULL`
)

// Await notes that the run waits for an answer, before it asks the other system, and returns the
// step, whose ID the question carries. A repeated run finds its step (Replayed), perhaps with
// the answer. It proves the ownership first: [ErrLost].
//
// On a pool it is a transaction of its own; when the answer to COMMIT is lost the error
// is [onerow.ErrOutcomeUnknown]; call again.
func Await(ctx context.Context, db onerow.DB, r Run, name string, asked []byte) (_ Step, err error) {
	ctx, span := trace.Start(ctx, "flow.Await", slog.String("onerow.flow", r.Flow))
	defer span.End(&err)
	id, err := StepID(r, name)
	if err != nil {
		return Step{}, err
	}
	if len(asked) > maxBlob {
		return Step{}, fmt.Errorf("%w: the question of step %q has %d bytes, %d fit", ErrInvalidArgument, name, len(asked), maxBlob)
	}
	var step Step
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		if err := Prove(ctx, tx, r); err != nil {
			return err
		}
		step = Step{ID: id, Run: r, Name: name, Asked: asked}
		_, err := tx.ExecContext(ctx, sqlAwait, id, asked)
		if mysqlerr.Classify(err) == mysqlerr.Duplicate {
			step.Replayed = true
			return step.read(ctx, tx)
		}
		return err
	})
	if err != nil {
		return Step{}, r.wrap("await a step of", err)
	}
	return step, nil
}

func (s *Step) read(ctx context.Context, tx *onerow.Tx) error {
	err := onerow.QueryRow(ctx, tx, sqlReadStep, []any{s.ID}, &s.Asked, &s.Answer, &s.Answered)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: %q", ErrNoStep, s.ID)
	}
	return err
}

// Answer stores the answer to a step and returns the step with its run, which goes on from there. An answer
// to a run that was superseded or has finished is stale: [ErrLost] says which, and nothing is stored. The
// first answer counts: a second one, or the same one redelivered, returns the stored one (Replayed), for a
// run that goes on again after a crash. An id that is no step's is ErrInvalidArgument or [ErrNoStep].
//
// Put it into the transaction of what the answer changes; it proves the ownership for the whole of it.
// Retries are those of [Await].
func Answer(ctx context.Context, db onerow.DB, stepID string, answer []byte) (_ Step, err error) {
	ctx, span := trace.Start(ctx, "flow.Answer", slog.String("onerow.step", stepID))
	defer span.End(&err)
	r, name, err := ParseStepID(stepID)
	if err != nil {
		return Step{}, err
	}
	if len(answer) > maxBlob {
		return Step{}, fmt.Errorf("%w: the answer to step %q has %d bytes, %d fit", ErrInvalidArgument, name, len(answer), maxBlob)
	}
	var step Step
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		if err := Prove(ctx, tx, r); err != nil {
			return err
		}
		n, err := onerow.Affected(ctx, tx, sqlAnswer, answer, stepID)
		if err != nil {
			return err
		}
		step = Step{ID: stepID, Run: r, Name: name, Replayed: n == 0}
		return step.read(ctx, tx)
	})
	if err != nil {
		return Step{}, r.wrap("answer a step of", err)
	}
	return step, nil
}

// MessageID is the id of a message that a run sends: the same for the same request id and step, in every
// repetition, and another for any other. 64 hexadecimal digits, so it can be a deduplication id too.
func MessageID(requestID, step string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%d:%s", len(requestID), requestID, len(step), step))
	return hex.EncodeToString(sum[:])
}
