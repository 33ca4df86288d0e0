package flow_test

import (
	"errors"
	"testing"

	"github.com/onerow/onerow/flow"
)

// FuzzStepID: an id that is read is written the same again, and what is made is read as it was.
func FuzzStepID(f *testing.F) {
	f.Add("'a,'b,'c,'d", "flow", "stage", "request", "ask")
	f.Add("'a%2Cb,','x,'%25", "a,b", "", "'", "%")
	f.Add("1,2,3,4", "\x00", "\xff", "😀", "a\nb")
	f.Fuzz(func(t *testing.T, id, name, stage, request, step string) {
		if r, ask, err := flow.ParseStepID(id); err == nil {
			again, err := flow.StepID(r, ask)
			if err == nil && again != id {
				t.Fatalf("%q is read as %+v %q, which is %q", id, r, ask, again)
			}
		} else if !errors.Is(err, flow.ErrInvalidArgument) {
			t.Fatalf("%q: %v", id, err)
		}
		r := flow.Run{Flow: name, Stage: stage, RequestID: request}
		made, err := flow.StepID(r, step)
		if err != nil {
			return
		}
		if back, ask, err := flow.ParseStepID(made); err != nil || back != r || ask != step {
			t.Fatalf("%+v %q became %q, which is %+v %q, %v", r, step, made, back, ask, err)
		}
	})
}
